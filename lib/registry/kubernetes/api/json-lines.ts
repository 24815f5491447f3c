/**
 * The JSON values of a stream, one a line. Lines and characters may be cut anywhere; a last line without an end counts
 * only if it is whole.
 *
 * @throws SyntaxError for a line that is no JSON
 */
export async function* jsonLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line);
  }
  rest += decoder.decode();
  if (rest.trim() === "") return;
  try {
    yield JSON.parse(rest);
  } catch {
    // The connection ended within a line: the event comes again when the watch resumes before it.
  }
}
