import { PortolanError } from "../base/diagnostic.ts";
import type { KeyServices } from "../secrets/wrapping-keys.ts";
import { type Authority, rootsOf } from "./authority.ts";
import { type SigningKey, signingKeyOf } from "./signing-key.ts";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  type PublicKey,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "./x509.ts";

/** Clocks of workloads may be behind by so much, as Istio assumes. */
const clockSkewMs = 2 * 60_000;

/** The signer of an authority, its key imported. */
export interface ReadySigner {
  readonly certificate: X509Certificate;
  readonly signingKey: SigningKey;
  readonly authorityKeyId: AuthorityKeyIdentifierExtension;
  /** What follows a certificate in an answer: PEM each, all roots in the last one. */
  readonly rest: readonly string[];
  readonly roots: readonly string[];
  /** Certificates that have signed what may still be valid, PEM each. */
  readonly issuers: readonly string[];
  readonly trustDomain: string;
}

/** What a certificate says. */
export interface Issuance {
  readonly publicKey: PublicKey;
  /** What the holder may be taken for, critical as the subject is empty. */
  readonly names: readonly { readonly type: "url" | "dns"; readonly value: string }[];
  readonly nowMs: number;
  readonly validityMs: number;
}

/** A certificate that was made. */
export interface Issued {
  /** PEM. */
  readonly certificate: string;
  /** Hex. */
  readonly serial: string;
  readonly notAfterMs: number;
}

/** @throws PortolanError when a part of it cannot be read, or its key is another certificate's */
export async function readySigner(authority: Authority, services: KeyServices): Promise<ReadySigner> {
  const { active, previous, trustDomain } = authority;
  const certificate = certificateOf(active.certificate);
  const roots = rootsOf(authority);
  const isRoot = active.roots.includes(active.certificate);
  const keyId = certificate.getExtension(SubjectKeyIdentifierExtension)?.keyId;
  return {
    certificate,
    signingKey: await signingKeyOf(active.key, certificate, services),
    authorityKeyId:
      keyId === undefined
        ? await AuthorityKeyIdentifierExtension.create(certificate.publicKey)
        : new AuthorityKeyIdentifierExtension(keyId),
    rest: [...(isRoot ? [] : [active.certificate, ...active.intermediates]), roots.join("")],
    roots,
    issuers: [active.certificate, ...(previous === undefined ? [] : [previous.certificate])],
    trustDomain,
  };
}

/**
 * Makes a certificate for servers and clients, valid no longer than its issuer.
 *
 * @throws PortolanError when the CA's certificate is over
 */
export async function issue(
  { certificate, signingKey, authorityKeyId }: ReadySigner,
  { publicKey, names, nowMs, validityMs }: Issuance,
): Promise<Issued> {
  const lastMs = certificate.notAfter.getTime();
  if (nowMs >= lastMs)
    throw new PortolanError(`the CA's certificate was valid until ${certificate.notAfter.toISOString()}: rotate it`);
  const notAfterMs = Math.min(nowMs + validityMs, lastMs);
  const serial = serialNumber();
  const made = await signCertificate(signingKey, {
    serialNumber: serial,
    issuer: certificate.subjectName,
    notBefore: new Date(nowMs - clockSkewMs),
    notAfter: new Date(notAfterMs),
    publicKey,
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      new BasicConstraintsExtension(false, undefined, true),
      authorityKeyId,
      new SubjectAlternativeNameExtension([...names], true),
    ],
  });
  return { certificate: `${made.toString("pem")}\n`, serial, notAfterMs };
}

type Unsigned = Omit<
  Parameters<typeof X509CertificateGenerator.create>[0],
  "signingKey" | "signature" | "signingAlgorithm"
>;

/** A certificate whose signature may come from somewhere else: the library asks for it as it asks WebCrypto. */
export async function signCertificate({ algorithm, sign }: SigningKey, unsigned: Unsigned): Promise<X509Certificate> {
  const signingKey = { type: "private", extractable: false, algorithm, usages: ["sign"] } as const;
  const subtle = { sign: (_algorithm: unknown, _key: unknown, data: ArrayBuffer) => sign(new Uint8Array(data)) };
  return X509CertificateGenerator.create(
    { ...unsigned, signingAlgorithm: algorithm, signingKey: { ...signingKey, usages: [...signingKey.usages] } },
    Object.create(crypto, { subtle: { value: subtle } }),
  );
}

/** @throws PortolanError for what is no certificate */
export function certificateOf(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new PortolanError("a certificate of the CA cannot be read as PEM");
  }
}

/** 127 random bits, positive, and never with a zero in front, which DER would not keep. */
export function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
