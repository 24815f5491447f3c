import { createHash, createPublicKey, generateKeyPairSync } from "node:crypto";
import "reflect-metadata";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  type JsonGeneralNames,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import type { Signer } from "../../lib/ca/authority.ts";
import { environmentKey, makeWrappingKey } from "../../lib/secrets/environment-key.ts";
import { type KeyWrapper, keyWrapper } from "../../lib/secrets/key-wrapper.ts";

/** A certificate signing request and its private key, PEM. */
export interface TestRequest {
  readonly csr: string;
  readonly key: string;
}

const algorithms = {
  "P-256": { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  "P-384": { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
  "P-521": { name: "ECDSA", namedCurve: "P-521", hash: "SHA-512" },
  "RSA 2048": rsa(2048),
  "RSA 1024": rsa(1024),
  "RSA, SHA-1": { ...rsa(2048), hash: "SHA-1" },
} as const;

function rsa(modulusLength: number) {
  return {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength,
    publicExponent: new Uint8Array([1, 0, 1]),
  } as const;
}

/** @param names that the request claims for itself */
export async function requestFor(
  type: keyof typeof algorithms = "P-256",
  names: JsonGeneralNames = [{ type: "url", value: "spiffe://cluster.local/ns/other/sa/admin" }],
): Promise<TestRequest> {
  const algorithm = algorithms[type];
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const csr = await Pkcs10CertificateRequestGenerator.create({
    name: "O=test",
    keys,
    signingAlgorithm: algorithm,
    extensions: [new SubjectAlternativeNameExtension(names)],
  });
  return { csr: csr.toString("pem"), key: await pemOf(keys.privateKey) };
}

/**
 * A request for an RSA key with an exponent of somebody's choice. With 1 it is "signed" by whoever asks: a signature is then its own
 * padded message.
 *
 * @param exponent base64url
 */
export async function requestWithExponent(exponent: string): Promise<string> {
  const algorithm = algorithms["RSA 2048"];
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const { n = "" } = await crypto.subtle.exportKey("jwk", keys.publicKey);
  const publicKey = createPublicKey({ key: { kty: "RSA", n, e: exponent }, format: "jwk" });
  const spki = new Uint8Array(publicKey.export({ type: "spki", format: "der" }));
  const digestInfo = Buffer.from("3031300d060960864801650304020105000420", "hex");
  const sign = async (_algorithm: unknown, _key: unknown, data: Uint8Array<ArrayBuffer>) => {
    const tail = Buffer.concat([Buffer.of(0), digestInfo, createHash("sha256").update(new Uint8Array(data)).digest()]);
    return Buffer.concat([Buffer.of(0, 1), Buffer.alloc(256 - 2 - tail.length, 255), tail]);
  };
  const subtle = { sign, exportKey: async () => spki };
  const csr = await Pkcs10CertificateRequestGenerator.create(
    { name: "O=test", keys, signingAlgorithm: algorithm },
    Object.create(crypto, { subtle: { value: subtle } }),
  );
  return csr.toString("pem");
}

/** A private key that no certificate of a test has. */
export const otherKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();

export function testWrapper(): KeyWrapper {
  const key = environmentKey(makeWrappingKey());
  if (key === undefined) throw new Error("a new key is one");
  return keyWrapper("TEST_KEY", key, []);
}

/** A root with RSA, as an istiod makes its own. */
export async function rsaRoot(): Promise<{ readonly certificate: string; readonly key: string }> {
  const algorithm = algorithms["RSA 2048"];
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: "01",
    name: "O=cluster.local",
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000 * 24),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
    ],
  });
  return { certificate: certificate.toString("pem"), key: await pemOf(keys.privateKey) };
}

async function pemOf(key: Parameters<typeof crypto.subtle.exportKey>[1]): Promise<string> {
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey("pkcs8", key)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`;
}

/** What a test's certificate says, true or not. */
export interface CertificateForm {
  readonly names: JsonGeneralNames;
  readonly notBeforeMs?: number;
  readonly notAfterMs?: number;
  /** Hex. */
  readonly serial?: string;
  /** Extended key usages. */
  readonly purposes?: readonly string[];
  readonly isAuthority?: boolean;
  /** With its own key in place of the signer's. */
  readonly isSelfSigned?: boolean;
}

/** A certificate with a new key, signed by a signer with a P-256 key without a look at what it says. */
export async function leafOf(
  { certificate, key }: Pick<Signer, "certificate" | "key">,
  form: CertificateForm,
): Promise<{ readonly cert: string; readonly key: string }> {
  const algorithm = algorithms["P-256"];
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const der = Buffer.from(key.replace(/-----[^-]+-----/g, ""), "base64");
  const signingKey = await crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
  const { notBeforeMs = Date.now() - 60_000, notAfterMs = notBeforeMs + 3_600_000 } = form;
  const { names, serial = "01", isAuthority = false, isSelfSigned = false } = form;
  const purposes = form.purposes ?? ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"];
  const made = await X509CertificateGenerator.create({
    serialNumber: serial,
    issuer: new X509Certificate(certificate).subjectName,
    notBefore: new Date(notBeforeMs),
    notAfter: new Date(notAfterMs),
    signingAlgorithm: algorithm,
    signingKey: isSelfSigned ? keys.privateKey : signingKey,
    publicKey: keys.publicKey,
    extensions: [
      new BasicConstraintsExtension(isAuthority, undefined, true),
      new ExtendedKeyUsageExtension([...purposes]),
      ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names, true)]),
    ],
  });
  return { cert: made.toString("pem"), key: await pemOf(keys.privateKey) };
}
