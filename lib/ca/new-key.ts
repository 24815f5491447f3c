import type { webcrypto } from "node:crypto";
import { toBase64 } from "../base/base64.ts";
import { PublicKey } from "./x509.ts";

/** A new key for ECDSA with P-256. */
export interface NewKey {
  readonly publicKey: PublicKey;
  readonly privateKey: webcrypto.CryptoKey;
  /** The private key: PKCS #8 in PEM. */
  readonly pem: string;
}

const ecdsa = { name: "ECDSA", namedCurve: "P-256" };

export async function newKey(): Promise<NewKey> {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(ecdsa, true, ["sign", "verify"]);
  const pkcs8 = await crypto.subtle.exportKey("pkcs8", privateKey);
  const lines = toBase64(new Uint8Array(pkcs8)).replace(/.{64}/g, "$&\n").trimEnd();
  return {
    publicKey: await PublicKey.create(publicKey),
    privateKey,
    pem: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
  };
}
