/** Ed25519 keys as JSON Web Keys (RFC 8037), each for one use: whoever may make tokens may not sign roots. */
import { PortolanError } from "../config/diagnostic.ts";
import type { Signer, TrustedKey } from "./signatures.ts";

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

/** Makes a key. The id says what it is for, and is its own. */
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

/** @throws PortolanError when the key is not private */
export async function privateKeyOf({ kid, ...jwk }: SigningJwk): Promise<Signer> {
  if (jwk.d === undefined) throw new PortolanError(`the key ${kid} has no private part`);
  const { kty, crv, x, d } = jwk;
  const privateKey = await crypto.subtle.importKey("jwk", { kty, crv, x, d }, "Ed25519", false, ["sign"]);
  return { keyId: kid, privateKey };
}

export async function publicKeyOf({ kid, kty, crv, x }: SigningJwk): Promise<TrustedKey> {
  return { keyId: kid, publicKey: await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]) };
}

/**
 * Reads the key that a compile function signs roots with, or the keys that a front trusts: JSON, one key or `{"keys": [...]}`.
 *
 * @param name of the setting, for messages, which never hold what stands in it
 * @throws PortolanError for anything but keys for that use
 */
export function readSigningKeys(text: string, use: KeyUse, name: string): readonly SigningJwk[] {
  const json = parse(text);
  const keys = typeof json === "object" && json !== null && "keys" in json ? json.keys : [json];
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isSigningJwk))
    throw new PortolanError(`${name} holds something else than keys of \`portolan keys\``);
  const other = keys.find(({ portolan }) => portolan !== use);
  if (other !== undefined)
    throw new PortolanError(`${name}: the key ${other.kid} is for ${other.portolan}, not for ${use}`);
  return keys;
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
