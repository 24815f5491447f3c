/**
 * Signed roots. A root's hash covers everything that it reaches, so a signature over the hash vouches for all of it. Signatures
 * lie beside the blobs, one for each key, so that keys can be rotated: sign with both, trust both, then drop the old one.
 */
import type { webcrypto } from "node:crypto";
import type { ObjectStore } from "../storage/object-store.ts";

export interface Signer {
  /** Letters, digits and `-`. */
  readonly keyId: string;
  /** Ed25519, for signing. */
  readonly privateKey: webcrypto.CryptoKey;
}

export interface TrustedKey {
  readonly keyId: string;
  /** Ed25519, for verifying. */
  readonly publicKey: webcrypto.CryptoKey;
}

const signatureKey = (root: string, keyId: string) => `signatures/${root}/${keyId}`;
/** What is signed says what it is, so that a signature over something else is never one over a root. */
const messageOf = (root: string) => new TextEncoder().encode(`portolan root ${root}\n`);

/** Signs a root; again is no harm. */
export async function signRoot(store: ObjectStore, { keyId, privateKey }: Signer, root: string): Promise<void> {
  const signature = await crypto.subtle.sign("Ed25519", privateKey, messageOf(root));
  await store.put(signatureKey(root, keyId), new Uint8Array(signature));
}

/** Whether any of the trusted keys has signed a root. */
export async function isSigned(store: ObjectStore, trusted: readonly TrustedKey[], root: string): Promise<boolean> {
  for (const { keyId, publicKey } of trusted) {
    const found = await store.get(signatureKey(root, keyId));
    if (found.kind !== "found") continue;
    if (await crypto.subtle.verify("Ed25519", publicKey, found.bytes, messageOf(root))) return true;
  }
  return false;
}
