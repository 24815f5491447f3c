import { PortolanError } from "../config/diagnostic.ts";

/**
 * The text of an answer.
 *
 * @param what names the answer, for people
 * @throws PortolanError for a body of more bytes, of which no more is read
 */
export async function textWithin(response: Response, bytes: number, what: string): Promise<string> {
  const decoder = new TextDecoder();
  const texts: string[] = [];
  let read = 0;
  for await (const chunk of response.body ?? []) {
    read += chunk.byteLength;
    if (read > bytes) throw new PortolanError(`${what} is longer than ${bytes} bytes`);
    texts.push(decoder.decode(chunk, { stream: true }));
  }
  texts.push(decoder.decode());
  return texts.join("");
}
