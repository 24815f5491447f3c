/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  // Nearly all texts are ASCII, for which nothing has to be encoded.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
  return /^[\x00-\x7f]*$/.test(text) ? text.length : new TextEncoder().encode(text).length;
}
