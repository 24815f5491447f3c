import { X509Certificate } from "node:crypto";

/** What a certificate proves about its bearer, or why it proves nothing. */
export type CertificateIdentity =
  | { readonly kind: "proven"; readonly spiffeId: string; readonly serial: string; readonly expiresSeconds: number }
  | { readonly kind: "unproven"; readonly reason: string };

/** Longest certificate that is read: base64 of 10 KiB, the most that Cloudflare passes on, and the lines of PEM. */
const maxCertificateLength = 16 * 1024;

/**
 * Reads the SPIFFE id of a client certificate whose bearer a platform has seen prove its key. The platform has checked the chain too;
 * the signature, the dates and the purpose are checked again, so that a platform that trusts more authorities than the front does not widen
 * its trust.
 *
 * @param certificate as PEM or DER
 * @param issuers certificates of the authorities that sign client certificates themselves
 * @see https://github.com/spiffe/spiffe/blob/main/standards/X509-SVID.md: one URI, and no authority's certificate
 */
export function identityIn(
  certificate: string | Uint8Array,
  issuers: readonly X509Certificate[],
  nowMs: number,
): CertificateIdentity {
  if (certificate.length > maxCertificateLength) return unproven("is too large");
  const leaf = readCertificate(certificate);
  if (leaf === undefined) return unproven("cannot be read");
  const signers = issuers.filter((issuer) => leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey));
  if (signers.length === 0) return unproven("is signed by none of the authorities of the setting certificates.issuers");
  if (!holdsAt(leaf, nowMs)) return unproven(datesOf(leaf));
  const ends = signers.filter((issuer) => holdsAt(issuer, nowMs)).map(({ validTo }) => Date.parse(validTo));
  if (ends.length === 0) return unproven(`is signed by an authority whose own ${signers.map(datesOf).join(" or ")}`);
  const untilMs = Math.min(Date.parse(leaf.validTo), Math.max(...ends));
  if (leaf.ca) return unproven("is that of an authority");
  // Absent: for any purpose.
  if (leaf.keyUsage !== undefined && !leaf.keyUsage.some((purpose) => clientPurposes.has(purpose)))
    return unproven("is not for clients: its extended key usage lacks clientAuth");
  const spiffeId = onlyUriOf(leaf.subjectAltName ?? "");
  if (spiffeId?.startsWith("spiffe://") !== true) return unproven("has no one SPIFFE id");
  return { kind: "proven", spiffeId, serial: leaf.serialNumber.toLowerCase(), expiresSeconds: untilMs / 1_000 };
}

/** What a certificate of a client is for, where it says so: `clientAuth`, or everything. */
const clientPurposes: ReadonlySet<string> = new Set(["1.3.6.1.5.5.7.3.2", "2.5.29.37.0"]);

/** What is no date compares as false. */
const holdsAt = ({ validFrom, validTo }: X509Certificate, nowMs: number): boolean =>
  Date.parse(validFrom) <= nowMs && nowMs < Date.parse(validTo);

const datesOf = ({ validFrom, validTo }: X509Certificate): string => `holds from ${validFrom} to ${validTo} only`;

const unproven = (what: string): CertificateIdentity => ({
  kind: "unproven",
  reason: `the client's certificate ${what}`,
});

/** @returns undefined for what is no certificate */
export function readCertificate(certificate: string | Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(certificate);
  } catch {
    return undefined;
  }
}

/** One name of Node's text of subject alternative names, as `URI:spiffe://…`; one with special characters stands in quotes, as in JSON. */
const oneName = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)/y;

/**
 * The URI among subject alternative names.
 *
 * @param names as Node writes them
 * @returns undefined where there is not exactly one, where it stands in quotes, and for a text of another form
 */
export function onlyUriOf(names: string): string | undefined {
  const uris: string[] = [];
  oneName.lastIndex = 0;
  for (let end = 0; end < names.length; end = oneName.lastIndex) {
    const [, type = "", value = ""] = oneName.exec(names) ?? [];
    if (oneName.lastIndex <= end) return undefined;
    if (type === "URI") uris.push(value);
  }
  const [uri] = uris;
  return uris.length === 1 && uri?.startsWith('"') === false ? uri : undefined;
}
