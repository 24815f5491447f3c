/** Bytes as base64. */
export const toBase64 = (bytes: Uint8Array): string => {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
};

/** Bytes of base64, white space aside; undefined when it is none. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text.replace(/\s/g, "")), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
