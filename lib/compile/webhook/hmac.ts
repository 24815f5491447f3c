const utf8 = (text: string) => new TextEncoder().encode(text);

const keyOf = (secret: string | Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey(
    "raw",
    typeof secret === "string" ? utf8(secret) : secret,
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  );

/** HMAC-SHA256 of a text or bytes. */
export async function hmacSha256(
  secret: string | Uint8Array<ArrayBuffer>,
  message: string | Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = typeof message === "string" ? utf8(message) : message;
  return new Uint8Array(await crypto.subtle.sign("HMAC", await keyOf(secret), bytes));
}

/** Whether one of the secrets has signed a message, as `signerOf` says which. */
export const isHmacSha256 = async (...signed: Parameters<typeof signerOf>): Promise<boolean> =>
  (await signerOf(...signed)) !== undefined;

/**
 * The secret that has signed a message, compared in constant time; undefined where none of them has. An empty secret has signed nothing.
 *
 * @param hex the signature, 64 lower-case hexadecimal digits; anything else is none
 */
export async function signerOf<Secret extends string | Uint8Array<ArrayBuffer>>(
  secrets: readonly Secret[],
  message: string | Uint8Array<ArrayBuffer>,
  hex: string,
): Promise<Secret | undefined> {
  if (!/^[0-9a-f]{64}$/.test(hex)) return undefined;
  const signature = Uint8Array.from({ length: 32 }, (_, i) => Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16));
  const bytes = typeof message === "string" ? utf8(message) : message;
  for (const secret of secrets) {
    if (secret.length > 0 && (await crypto.subtle.verify("HMAC", await keyOf(secret), signature, bytes))) return secret;
  }
  return undefined;
}

/** Whether two texts are equal, in a time that tells nothing of where they differ. */
export async function isSameText(a: string, b: string): Promise<boolean> {
  const once = crypto.getRandomValues(new Uint8Array(32));
  return isHmacSha256([once], b, hexOf(await hmacSha256(once, a)));
}

/** SHA-256 in lower-case hex. */
export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** Lower-case hex. */
export const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
