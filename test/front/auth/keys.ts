import type { webcrypto } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { createToken, type TokenGrant } from "../../../lib/front/auth/token.ts";
import type { SigningJwk } from "../../../lib/snapshot/head/signing-keys.ts";

export const nowMs = Date.UTC(2026, 0, 1);

export interface TestKey {
  readonly keyId: string;
  readonly publicJwk: JWK;
  readonly privateKey: webcrypto.CryptoKey;
}

export async function testKey(keyId: string, alg = "EdDSA"): Promise<TestKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { keyId, publicJwk: { ...(await exportJWK(publicKey)), kid: keyId, alg }, privateKey };
}

/** A token of our own. */
export const tokenOf = (key: SigningJwk, grant: TokenGrant, ttlSeconds = 3600, atMs = nowMs) =>
  createToken(key, grant, { subject: "a test", nowMs: atMs, ttlSeconds });

/** A token of a Kubernetes cluster's. */
export function clusterToken(
  key: TestKey,
  {
    issuer = "https://cluster.test",
    audience = "portolan",
    subject = "system:serviceaccount:default:web",
    pod,
    atMs = nowMs,
  }: {
    readonly issuer?: string;
    readonly audience?: string;
    readonly subject?: string;
    readonly pod?: string;
    readonly atMs?: number;
  } = {},
): Promise<string> {
  return new SignJWT(
    pod === undefined ? {} : { "kubernetes.io": { namespace: "default", pod: { name: pod, uid: "1" } } },
  )
    .setProtectedHeader({ alg: key.publicJwk.alg ?? "", kid: key.keyId })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(subject)
    .setExpirationTime(atMs / 1000 + 600)
    .sign(key.privateKey);
}
