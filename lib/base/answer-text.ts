/** The text of an answer over HTTP. @returns undefined for one of more bytes, of which no more is read */
export async function answerText({ body }: Pick<Response, "body">, maxBytes: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  const texts: string[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop ends the answer.
    if (bytes > maxBytes) return undefined;
    texts.push(decoder.decode(chunk, { stream: true }));
  }
  return texts.join("") + decoder.decode();
}
