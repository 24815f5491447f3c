import { answerText } from "../base/answer-text.ts";
import { PortolanError } from "../base/diagnostic.ts";

/**
 * The text of an answer.
 *
 * @param what names the answer, for people
 * @throws PortolanError for a body of more bytes, of which no more is read
 */
export async function textWithin(response: Response, bytes: number, what: string): Promise<string> {
  const text = await answerText(response, bytes);
  if (text === undefined) throw new PortolanError(`${what} is longer than ${bytes} bytes`);
  return text;
}
