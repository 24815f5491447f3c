import type { webcrypto } from "node:crypto";
import { fromBase64 } from "../base/base64.ts";
import { PortolanError } from "../base/diagnostic.ts";
import type { SigningAlgorithm, SigningService } from "../secrets/signing-service.ts";
import { awsKmsPrefix, type KeyServices, signingService } from "../secrets/wrapping-keys.ts";
import { keyTypeOf } from "./csr.ts";
import { AsnEcSignatureFormatter, PublicKey, type X509Certificate } from "./x509.ts";

/** What signs certificates: a private key in memory, or one that a service keeps. */
export interface SigningKey {
  readonly algorithm: SignatureAlgorithm;
  /** A signature as WebCrypto makes it. @throws PortolanError when a service does not sign */
  sign(data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
}

interface SignatureAlgorithm {
  readonly name: "ECDSA" | "RSASSA-PKCS1-v1_5";
  readonly hash: "SHA-256" | "SHA-384";
  readonly namedCurve?: string;
}

/** Whether the text in place of a private key names one of a service's. */
const isKeptElsewhere = (key: string): boolean => key.startsWith(awsKmsPrefix);

/**
 * The private key of a CA.
 *
 * @param key PKCS #8 in PEM, or the name of a key of AWS KMS
 * @param certificate the CA's: says which kind of key it is, and has to be that key's
 * @throws PortolanError that quotes nothing of the key
 */
export async function signingKeyOf(
  key: string,
  certificate: X509Certificate,
  services: KeyServices,
): Promise<SigningKey> {
  const algorithm = algorithmOf(certificate.publicKey);
  const signing = isKeptElsewhere(key)
    ? remoteKey(signingService(key, services), algorithm)
    : await localKey(key, algorithm);
  if (!(await belongTogether(signing, certificate))) throw new PortolanError("the CA's key is not its certificate's");
  return signing;
}

/** @throws PortolanError for a kind of key that no CA here has */
function algorithmOf({ algorithm }: PublicKey): SignatureAlgorithm {
  const type = keyTypeOf(algorithm);
  if (type === undefined)
    throw new PortolanError("the CA's key is neither ECDSA (P-256, P-384) nor RSA with 2048 to 4096 bits");
  if (type.startsWith("RSA")) return { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  return { name: "ECDSA", hash: type === "P-384" ? "SHA-384" : "SHA-256", namedCurve: type };
}

async function localKey(pem: string, algorithm: SignatureAlgorithm): Promise<SigningKey> {
  const der = fromBase64(pem.replace(/-----(?:BEGIN|END) PRIVATE KEY-----/g, "")) ?? new Uint8Array();
  const key = await crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]).catch(() => {
    throw new PortolanError("the CA's key cannot be read as PKCS #8");
  });
  return signingBy(key, algorithm);
}

/** @param key a private one, for the algorithm */
export const signingBy = (key: webcrypto.CryptoKey, algorithm: SignatureAlgorithm): SigningKey => ({
  algorithm,
  sign: (data) => crypto.subtle.sign(algorithm, key, data),
});

/** A new CA's key that a service keeps, and its public part. @throws PortolanError for a kind of key that no CA here has */
export async function keptElsewhere(
  key: string,
  services: KeyServices,
): Promise<{ readonly publicKey: PublicKey; readonly signing: SigningKey }> {
  const service = signingService(key, services);
  const publicKey = new PublicKey(await service.publicKey());
  return { publicKey, signing: remoteKey(service, algorithmOf(publicKey)) };
}

function remoteKey(service: SigningService, algorithm: SignatureAlgorithm): SigningKey {
  const name = serviceName(algorithm);
  return {
    algorithm,
    async sign(data) {
      const signature = await service.sign(data, name);
      if (algorithm.name !== "ECDSA") return signature.buffer;
      const raw = new AsnEcSignatureFormatter().toWebSignature(algorithm, signature);
      if (raw === null) throw new PortolanError("AWS KMS has sent something that is no signature");
      return raw;
    },
  };
}

function serviceName({ name, hash }: SignatureAlgorithm): SigningAlgorithm {
  if (name !== "ECDSA") return "RSASSA_PKCS1_V1_5_SHA_256";
  return hash === "SHA-384" ? "ECDSA_SHA_384" : "ECDSA_SHA_256";
}

/** Whether what the private key signs is verified with the certificate's public key. */
async function belongTogether({ algorithm, sign }: SigningKey, certificate: X509Certificate): Promise<boolean> {
  const probe = crypto.getRandomValues(new Uint8Array(32));
  const publicKey = await certificate.publicKey.export({ ...algorithm }, ["verify"]);
  return crypto.subtle.verify(algorithm, publicKey, await sign(probe), probe);
}
