import { importJWK, type JWK } from "jose";
import { isFields, jsonIn } from "../base/untyped.ts";

/** Of an answer. */
export const maxKeySetBytes = 1024 * 1024;

const maxKeys = 16;

/** Of what is kept of a set, in characters. */
const maxSetLength = 16 * 1024;

/** A key set that Envoy takes, or why there is none. */
export type ReadKeySet =
  | { readonly kind: "keys"; readonly jwks: string; readonly left: readonly string[] }
  | { readonly kind: "unusable"; readonly reason: string };

/** What a member of a key may be. */
type Form = (value: unknown) => boolean;

const matching =
  (form: RegExp): Form =>
  (value) =>
    typeof value === "string" && form.test(value);
/** Bytes in base64url; as many as the characters say, 4 for 3. */
const base64url = (least: number, most: number): Form => matching(new RegExp(`^[A-Za-z0-9_-]{${least},${most}}$`));
const text: Form = (value) => typeof value === "string" && value.length <= 256 && value.isWellFormed();

/** Members of any key that are kept where they are there. */
const common: Readonly<Record<string, Form>> = { kid: text };

/** Members that a public key has to have, by its type and curve, and the algorithms that sign with it. */
const keyForms: Readonly<
  Record<string, { readonly needs: Readonly<Record<string, Form>>; readonly algorithms: readonly string[] }>
> = {
  // 2048 to 8192 bits; 3 and 65537 are what exponents are.
  RSA: {
    needs: { n: base64url(342, 1366), e: matching(/^(?:AQAB|Aw)$/) },
    algorithms: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  },
  "P-256": { needs: { x: base64url(43, 43), y: base64url(43, 43) }, algorithms: ["ES256"] },
  "P-384": { needs: { x: base64url(64, 64), y: base64url(64, 64) }, algorithms: ["ES384"] },
  "P-521": { needs: { x: base64url(88, 88), y: base64url(88, 88) }, algorithms: ["ES512"] },
  Ed25519: { needs: { x: base64url(43, 43) }, algorithms: ["EdDSA"] },
};

/**
 * The public keys of a JSON Web Key Set that sign tokens, each reduced to its public members. The order in which an issuer lists them
 * changes nothing: the same keys give the same text. Envoy refuses a whole listener for a set that it cannot read, so nothing is passed on
 * that is not known to be well-formed.
 */
export async function readKeySet(written: string): Promise<ReadKeySet> {
  const json = jsonIn(written);
  if (!isFields(json) || !Array.isArray(json.keys))
    return { kind: "unusable", reason: 'the answer is no key set: {"keys": [...]}' };
  if (json.keys.length > maxKeys)
    return { kind: "unusable", reason: `the key set has ${json.keys.length} keys; at most ${maxKeys} are read` };
  const read = await Promise.all(json.keys.map((key: unknown, index) => publicKey(key, index)));
  const keys = [...new Set(read.flatMap(({ key }) => key ?? []))].sort();
  const left = read.flatMap(({ reason }) => reason ?? []);
  if (keys.length === 0)
    return { kind: "unusable", reason: ["the key set has no key that can be used", ...left].join("; ") };
  const jwks = `{"keys":[${keys.join(",")}]}`;
  if (jwks.length > maxSetLength)
    return { kind: "unusable", reason: `the key set is longer than ${maxSetLength / 1024} KiB` };
  return { kind: "keys", jwks, left };
}

/** One of the two: the key's text, or why it is left out. */
async function publicKey(key: unknown, index: number): Promise<{ readonly key?: string; readonly reason?: string }> {
  const refused = (why: string) => ({ reason: `key ${index} ${why}` });
  if (!isFields(key)) return refused("is no object");
  const { kty, crv, use, alg } = key;
  const isKnown = kty === "RSA" || kty === "EC" || kty === "OKP";
  if (!isKnown) return refused("is no public key of type RSA, EC or OKP");
  if (use !== undefined && use !== "sig") return refused("is not for signatures");
  const form = keyForms[kty === "RSA" ? kty : typeof crv === "string" && Object.hasOwn(keyForms, crv) ? crv : ""];
  const isOfCurve = kty === "RSA" || (kty === "OKP") === (crv === "Ed25519");
  if (form === undefined || !isOfCurve) return refused("is of a curve that Envoy does not know");
  const members = Object.entries({ ...form.needs, ...common }).filter(
    ([name]) => key[name] !== undefined || name in form.needs,
  );
  if (members.some(([name, isRight]) => !isRight(key[name]))) return refused("cannot be read");
  if (kty === "RSA" && !isOdd(String(key.n))) return refused("cannot be read");
  const [usual] = form.algorithms;
  // Newer issuers call it by its curve.
  const algorithm =
    alg === undefined ? undefined : alg === "Ed25519" ? "EdDSA" : form.algorithms.find((one) => one === alg);
  if (alg !== undefined && algorithm === undefined) return refused("is for another algorithm than it is a key of");
  const kept = {
    kty,
    ...(kty === "RSA" ? {} : { crv }),
    ...Object.fromEntries(members.map(([name]) => [name, key[name]])),
    ...(use === undefined ? {} : { use }),
    ...(algorithm === undefined ? {} : { alg: algorithm }),
  };
  // Its members are of the forms above.
  const isKey = await importJWK(kept as JWK, algorithm ?? usual).then(
    () => true,
    () => false,
  );
  return isKey ? { key: JSON.stringify(kept) } : refused("cannot be read");
}

/** Whether a number in base64url is odd, as the product of two primes is. */
function isOdd(written: string): boolean {
  const value = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".indexOf(written.at(-1) ?? "");
  // The last character has bits behind the last byte where the bytes are no multiple of three.
  const spare = [0, 0, 4, 2][written.length % 4] ?? 0;
  return ((value >> spare) & 1) === 1;
}
