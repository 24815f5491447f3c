/** Ed25519 keys as JSON Web Keys (RFC 8037), each for one use: whoever may make tokens may not sign roots. */
import { PortolanError } from "../../base/diagnostic.ts";

export type KeyUse = "tokens" | "roots";

/** A key as it is written. */
export interface SigningJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly alg: "EdDSA";
  /** Letters, digits and `-`. */
  readonly kid: string;
  readonly portolan: KeyUse;
  readonly x: string;
  /** The private part; absent in a public key. */
  readonly d?: string;
}

/** Makes a key. The id says what the key signs, and is its own. */
export async function makeSigningKey(use: KeyUse): Promise<SigningJwk> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  if (!("privateKey" in pair)) throw new PortolanError("this runtime makes no Ed25519 key pairs");
  const { x = "", d = "" } = await crypto.subtle.exportKey("jwk", pair.privateKey);
  const kid = `${use}-${crypto.randomUUID().slice(0, 8)}`;
  return { kty: "OKP", crv: "Ed25519", alg: "EdDSA", kid, portolan: use, x, d };
}

/** A key without its private part. */
export function publicPart({ d: _d, ...rest }: SigningJwk): SigningJwk {
  return rest;
}

/** A signature in base64url. @throws PortolanError when the key is not private */
export async function signWith({ kid, kty, crv, x, d }: SigningJwk, message: Uint8Array<ArrayBuffer>): Promise<string> {
  if (d === undefined) throw new PortolanError(`the key ${kid} has no private part`);
  const key = await crypto.subtle.importKey("jwk", { kty, crv, x, d }, "Ed25519", false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", key, message));
  return btoa(String.fromCharCode(...signature))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Whether a signature, in base64url, is this key's over the message. */
export async function isSignedWith(
  { kty, crv, x }: SigningJwk,
  message: Uint8Array<ArrayBuffer>,
  signature: string,
): Promise<boolean> {
  if (!/^[A-Za-z0-9_-]{86}$/.test(signature)) return false;
  const bytes = Uint8Array.from(atob(signature.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const key = await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
  return crypto.subtle.verify("Ed25519", key, bytes, message);
}

/** Reads the keys that are trusted, or one to sign with: JSON, one key or `{"keys": [...]}`.
 *
 * @param name of the setting, for messages, which never hold what stands in it
 * @throws PortolanError for anything but keys for that use
 */
function readSigningKeys(text: string, use: KeyUse, name: string): readonly SigningJwk[] {
  const json = parse(text);
  const keys = typeof json === "object" && json !== null && "keys" in json ? json.keys : [json];
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isSigningJwk))
    throw new PortolanError(`${name} holds something else than keys of \`portolan keys\``);
  const other = keys.find(({ portolan }) => portolan !== use);
  if (other !== undefined)
    throw new PortolanError(`${name}: the key ${other.kid} is for ${other.portolan}, not for ${use}`);
  return keys;
}

/**
 * What a function's environment says of HEAD's signatures: a private key to sign with, public keys to trust. A signer trusts its own.
 *
 * @param names of the settings, for messages
 * @throws PortolanError for settings that hold something else
 */
export function readTrust(
  { signer = "", trusted = "" }: { readonly signer?: string | undefined; readonly trusted?: string | undefined },
  names: { readonly signer: string; readonly trusted: string },
): { readonly signer?: SigningJwk; readonly trusted?: readonly SigningJwk[] } {
  const [key, ...more] = signer === "" ? [] : readSigningKeys(signer, "roots", names.signer);
  if (more.length > 0 || (key !== undefined && key.d === undefined))
    throw new PortolanError(`${names.signer} holds something else than one private key`);
  const keys = trusted === "" ? [] : readSigningKeys(trusted, "roots", names.trusted);
  const all = [...keys, ...(key === undefined ? [] : [publicPart(key)])];
  return { ...(key === undefined ? {} : { signer: key }), ...(all.length === 0 ? {} : { trusted: all }) };
}

/** The keys that a front trusts. @throws PortolanError for a setting that holds something else */
export function readTrusted(setting: string | undefined, name: string): { readonly trusted?: readonly SigningJwk[] } {
  const { trusted } = readTrust({ trusted: setting }, { signer: "", trusted: name });
  if (trusted?.some(({ d }) => d !== undefined)) throw new PortolanError(`${name} holds a private key`);
  return trusted === undefined ? {} : { trusted };
}

export function isSigningJwk(value: unknown): value is SigningJwk {
  if (typeof value !== "object" || value === null) return false;
  const { kty, crv, kid, portolan, x, d }: Partial<Record<string, unknown>> = { ...value };
  return (
    kty === "OKP" &&
    crv === "Ed25519" &&
    typeof kid === "string" &&
    /^[A-Za-z0-9-]{1,64}$/.test(kid) &&
    (portolan === "tokens" || portolan === "roots") &&
    typeof x === "string" &&
    (d === undefined || typeof d === "string")
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
