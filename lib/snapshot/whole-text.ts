/** What comes in pieces, as one text: characters may be cut between them. */
export async function wholeText(pieces: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of pieces) text += decoder.decode(piece, { stream: true });
  return text;
}
