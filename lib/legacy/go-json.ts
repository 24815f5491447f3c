/** JSON text with angle brackets, ampersands and line separators inside strings escaped, as Go writes them. */
export function escaped(json: string): string {
  return json.replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A text as it stands between the quotes of a JSON string. */
export const insideString = (text: string): string => escaped(JSON.stringify(text)).slice(1, -1);

/**
 * A document as the release prints it: one blank of indentation a level, every line but the first one blank further in.
 * Envoy takes any JSON; byte equality is for those who compare.
 */
export function encodeDocument(document: unknown): string {
  return escaped(JSON.stringify(document, undefined, " ")).replaceAll("\n", "\n ");
}
