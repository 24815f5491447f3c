import { PortolanError } from "../../../base/diagnostic.ts";

/** An object of an API server has a few MiB at most: its store takes no larger one. */
const mostLineBytes = 8 * 2 ** 20;

const lineEnd = 0x0a;

/**
 * The JSON values of a stream, one a line. Lines and characters may be cut anywhere; a last line without an end counts
 * only if it is whole.
 *
 * @throws SyntaxError for a line that is no JSON, PortolanError for one of more than 8 MiB, of which no more is read
 */
export async function* jsonLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  /** The line so far. Each byte is looked at once, however small the pieces that it comes in. */
  let pieces: string[] = [];
  let bytes = 0;
  const take = (piece: Uint8Array): void => {
    bytes += piece.byteLength;
    if (bytes > mostLineBytes) throw new PortolanError(`a line of the answer is longer than ${mostLineBytes} bytes`);
    pieces.push(decoder.decode(piece, { stream: true }));
  };
  const endLine = (): string => {
    const line = pieces.join("") + decoder.decode();
    pieces = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(lineEnd); end >= 0; end = chunk.indexOf(lineEnd, from)) {
      take(chunk.subarray(from, end));
      from = end + 1;
      const line = endLine();
      if (line.trim() !== "") yield JSON.parse(line);
    }
    take(chunk.subarray(from));
  }
  const rest = endLine();
  if (rest.trim() === "") return;
  try {
    yield JSON.parse(rest);
  } catch {
    // The connection ended within a line: the event comes again when the watch resumes before it.
  }
}
