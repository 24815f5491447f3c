import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { PortolanError } from "../base/diagnostic.ts";
import { normalPem, pemBlocks, type Signer } from "./authority.ts";

/** The files of Istio's Secret `cacerts`, or of `istio-ca-secret`, which has the first two alone; PEM. */
export interface AuthorityFiles {
  readonly certificate: string;
  /** Absent: a service keeps it. */
  readonly key?: string | undefined;
  /** The CA's certificate and those between it and a root. Absent: the CA's alone. */
  readonly chain?: string | undefined;
  /** Roots. Absent: the CA is its own root. */
  readonly roots?: string | undefined;
}

/** A CA's key that a service keeps, in place of `ca-key.pem`. */
export interface KeptPublicKey {
  /** `aws-kms:` and the ARN or alias. */
  readonly name: string;
  /** DER of a SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array;
}

/** More certificates than these in one file are a mistake. */
const maxCertificates = 20;

/**
 * Reads a CA that was made elsewhere, and checks it: its key is its certificate's, it may sign, each certificate is valid now and signed
 * by the next, the last one by a root.
 *
 * @throws PortolanError that says what is wrong, and quotes no key
 */
export function importSigner(files: AuthorityFiles, nowMs: number, kept?: KeptPublicKey): Signer {
  const [signing, ...others] = certificatesIn(files.certificate, "ca-cert.pem");
  if (signing === undefined || others.length > 0) throw new PortolanError("ca-cert.pem is not one certificate in PEM");
  if (!signing.ca) throw new PortolanError("ca-cert.pem is no CA's certificate: its basic constraints do not say so");
  const key = kept === undefined ? keyTextIn(files.key, signing) : keptNameOf(kept, signing);
  const roots = files.roots === undefined ? [signing] : certificatesIn(files.roots, "root-cert.pem");
  if (roots.length === 0) throw new PortolanError("root-cert.pem holds no certificate in PEM");
  const chain = certificatesIn(files.chain ?? "", "cert-chain.pem");
  const isRoot = (one: X509Certificate) => roots.some((root) => root.raw.equals(one.raw));
  const intermediates = chain.filter((one) => !one.raw.equals(signing.raw) && !isRoot(one));
  checkChain([signing, ...intermediates], roots, nowMs);
  return {
    certificate: pemOf(signing),
    key,
    intermediates: intermediates.map(pemOf),
    roots: roots.map(pemOf),
    trustedSinceMs: nowMs,
  };
}

const pemOf = (certificate: X509Certificate): string => normalPem(certificate.toString());

function certificatesIn(text: string, file: string): readonly X509Certificate[] {
  const blocks = pemBlocks(text, "CERTIFICATE");
  if (blocks.length > maxCertificates)
    throw new PortolanError(`${file} holds more than ${maxCertificates} certificates`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw new PortolanError(`${file} holds a certificate that cannot be read`);
  }
}

function keyTextIn(text: string | undefined, signing: X509Certificate): string {
  if (text === undefined) throw new PortolanError("there is no ca-key.pem: --key names a key that AWS KMS keeps");
  const key = keyIn(text);
  if (!signing.checkPrivateKey(key)) throw new PortolanError("ca-key.pem is not the key of ca-cert.pem");
  checkKind(key);
  return normalPem(key.export({ type: "pkcs8", format: "pem" }).toString());
}

function keptNameOf({ name, publicKey }: KeptPublicKey, { publicKey: certified }: X509Certificate): string {
  if (!certified.export({ type: "spki", format: "der" }).equals(publicKey))
    throw new PortolanError(`${name} is not the key of ca-cert.pem`);
  checkKind(certified);
  return name;
}

function keyIn(text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    throw new PortolanError("ca-key.pem cannot be read as a private key in PEM; remove its passphrase, if it has one");
  }
}

function checkKind({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): void {
  const { namedCurve, modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {};
  const isEc = asymmetricKeyType === "ec" && (namedCurve === "prime256v1" || namedCurve === "secp384r1");
  const isRsa = asymmetricKeyType === "rsa" && modulusLength >= 2048 && modulusLength <= 4096 && publicExponent > 1n;
  if (!isEc && !isRsa)
    throw new PortolanError("ca-key.pem is neither ECDSA (P-256, P-384) nor RSA with 2048 to 4096 bits");
}

function checkChain(chain: readonly X509Certificate[], roots: readonly X509Certificate[], nowMs: number): void {
  for (const one of [...chain, ...roots]) {
    if (nowMs < Date.parse(one.validFrom)) throw new PortolanError(`${nameOf(one)} is valid from ${one.validFrom} on`);
    if (nowMs >= Date.parse(one.validTo)) throw new PortolanError(`${nameOf(one)} was valid until ${one.validTo}`);
  }
  for (const [at, one] of chain.entries()) {
    const issuers = chain[at + 1] === undefined ? roots : [chain[at + 1]];
    if (!issuers.some((issuer) => issuer !== undefined && isIssuedBy(one, issuer)))
      throw new PortolanError(
        `${nameOf(one)} is not signed by ${at + 1 < chain.length ? "the next one of cert-chain.pem" : "a root of root-cert.pem"}`,
      );
  }
}

const isIssuedBy = (one: X509Certificate, issuer: X509Certificate): boolean =>
  issuer.ca && one.checkIssued(issuer) && one.verify(issuer.publicKey);

const nameOf = ({ subject, serialNumber }: X509Certificate): string =>
  `the certificate ${subject === "" ? serialNumber : subject.replaceAll("\n", ", ")}`;
