import { PortolanError } from "../../base/diagnostic.ts";
import type { CertificateAuthority } from "../../ca/certificate-authority.ts";
import {
  authorityCertificate,
  type CertificateSource,
  certificateFiles,
} from "../../front/connect/server-certificate.ts";

/** Where the certificate of the port with TLS comes from. */
export type TlsSource =
  | { readonly kind: "files"; readonly certificate: string; readonly key: string }
  | { readonly kind: "ca" };

/** @throws PortolanError for settings that name none, or half of one */
export function tlsSource({
  tlsCertificate,
  tlsKey,
  ca,
}: {
  readonly tlsCertificate?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly ca?: string | boolean | undefined;
}): TlsSource {
  if ((tlsCertificate === undefined) !== (tlsKey === undefined))
    throw new PortolanError("PORTOLAN_TLS_CERTIFICATE and PORTOLAN_TLS_KEY must be set together");
  if (tlsCertificate !== undefined && tlsKey !== undefined)
    return { kind: "files", certificate: tlsCertificate, key: tlsKey };
  if (ca === true || ca === "on") return { kind: "ca" };
  throw new PortolanError(
    "PORTOLAN_TLS_PORT has no certificate: set PORTOLAN_CA to on, or PORTOLAN_TLS_CERTIFICATE and PORTOLAN_TLS_KEY",
  );
}

/** The certificate that the settings mean. */
export function certificateSource(
  source: TlsSource,
  names: readonly string[],
  authority: CertificateAuthority | undefined,
): CertificateSource {
  if (source.kind === "files") return certificateFiles(source.certificate, source.key);
  if (authority === undefined) throw new PortolanError("PORTOLAN_TLS_PORT has no certificate: there is no CA");
  return authorityCertificate(authority, names);
}
