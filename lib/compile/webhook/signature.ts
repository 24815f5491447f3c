/** What a signed request brings besides its body. Header names are lower-case. */
export type Headers = (name: string) => string | undefined;

export type Verdict =
  /** `key` names the delivery: a second request with the same one is a replay. */
  { readonly kind: "genuine"; readonly key: string } | { readonly kind: "refused"; readonly reason: string };

const windowSeconds = 300;

/**
 * Checks who sent a request: HMAC-SHA256 with a shared secret, over `<timestamp>.<body>` in `x-portolan-signature` with
 * `x-portolan-timestamp` (seconds) and `idempotency-key`, or GitHub's `x-hub-signature-256` over the body with its delivery id.
 */
export async function verifySignature(secret: string, headers: Headers, body: string, nowMs: number): Promise<Verdict> {
  const own = headers("x-portolan-signature");
  if (own !== undefined) {
    const timestamp = headers("x-portolan-timestamp") ?? "";
    const key = headers("idempotency-key") ?? "";
    if (!(await isSigned(secret, `${timestamp}.${body}`, own))) return refused("the signature is wrong");
    if (Math.abs(nowMs / 1000 - Number(timestamp)) > windowSeconds || timestamp === "") {
      return refused(`the timestamp is more than ${windowSeconds} s away from this clock`);
    }
    return key === "" ? refused("there is no idempotency-key") : { kind: "genuine", key };
  }
  const github = headers("x-hub-signature-256");
  if (github === undefined) return refused("the request is not signed");
  if (!(await isSigned(secret, body, github))) return refused("the signature is wrong");
  const delivery = headers("x-github-delivery") ?? "";
  return delivery === "" ? refused("there is no x-github-delivery") : { kind: "genuine", key: delivery };
}

/** Headers for a request of our own. */
export async function signHeaders(
  secret: string,
  body: string,
  key: string,
  nowMs: number,
): Promise<Readonly<Record<string, string>>> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signature = await crypto.subtle.sign("HMAC", await hmacKey(secret), utf8(`${timestamp}.${body}`));
  const hex = [...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return {
    "x-portolan-timestamp": timestamp,
    "x-portolan-signature": `sha256=${hex}`,
    "idempotency-key": key,
  };
}

const refused = (reason: string): Verdict => ({ kind: "refused", reason });
const utf8 = (text: string) => new TextEncoder().encode(text);

const hmacKey = (secret: string) =>
  crypto.subtle.importKey("raw", utf8(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);

/** Compares in constant time: `verify` does. */
async function isSigned(secret: string, signed: string, header: string): Promise<boolean> {
  const hex = /^sha256=([0-9a-f]{64})$/.exec(header)?.[1];
  if (hex === undefined || secret === "") return false;
  const signature = Uint8Array.from({ length: 32 }, (_, i) => Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16));
  return crypto.subtle.verify("HMAC", await hmacKey(secret), signature, utf8(signed));
}
