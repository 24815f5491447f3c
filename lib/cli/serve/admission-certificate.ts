import { readFileSync } from "node:fs";
import type { TlsOptions } from "node:tls";
import { createSecureContext } from "node:tls";
import { causeText, fileTrouble } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { openAuthority } from "../../ca/open-authority.ts";
import type { Log } from "../../compile/telemetry/log.ts";
import type { ReadValue } from "../../front/connect/keep-renewed.ts";
import { authorityCertificate, checkPair } from "../../front/connect/server-certificate.ts";
import { awsKms } from "../../secrets/aws-kms.ts";
import type { AdmissionSettings, Settings } from "../../settings/schema.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** Where the certificate of the webhooks comes from. */
export type AdmissionSource = { readonly kind: "files" } | { readonly kind: "ca"; readonly names: readonly string[] };

/** @throws PortolanError for settings that name both, or no names and half of the files */
export function admissionSource({
  certificate,
  key,
  tlsNames,
  webhooks,
  rootCert,
}: AdmissionSettings): AdmissionSource {
  if (tlsNames === undefined) {
    const field = webhooks === undefined ? "rootCert" : "webhooks";
    if (webhooks !== undefined || rootCert === true)
      throw new PortolanError(
        `admission.${field} needs admission.tlsNames: it writes the roots of the CA in the store`,
      );
    return { kind: "files" };
  }
  if (certificate !== undefined || key !== undefined)
    throw new PortolanError("admission.tlsNames excludes admission.certificate and admission.key: use one of them");
  return { kind: "ca", names: tlsNames };
}

export interface AdmissionCertificate {
  /** What the server shows now, and when to read it again. */
  read(): Promise<ReadValue<TlsOptions>>;
  /** Roots that vouch for it, where it is of the CA in the store. */
  readonly roots?: () => Promise<readonly string[]>;
}

/** @param lookMs between looks at files */
export function admissionCertificate(
  store: ObjectStore,
  settings: Settings,
  log: Log,
  lookMs: number,
): AdmissionCertificate {
  const { admission = {}, secretsKey } = settings;
  const source = admissionSource(admission);
  if (source.kind === "files") return { read: async () => ({ value: admissionTls(admission), againMs: lookMs }) };
  const authority = openAuthority({
    store,
    secretsKey,
    maxHours: undefined,
    services: awsKms({ onWarning: (text) => log.warn({}, text) }),
    onError: (cause) => log.error({ cause: causeText(cause) }, "the CA"),
  });
  const made = authorityCertificate(authority, source.names);
  return {
    async read() {
      const { pair, againMs } = await made.read();
      return { value: tlsOptions({ cert: pair.certificate, key: pair.key }, admission), againMs };
    },
    roots: authority.roots,
  };
}

/**
 * What the server proves itself with, from the files that the settings name.
 *
 * @throws PortolanError for one that is not named or cannot be read, and for a key that is another certificate's
 */
export function admissionTls({ certificate, key, clientAuthority }: AdmissionSettings): TlsOptions {
  if (certificate === undefined || key === undefined)
    throw new PortolanError(
      "admission needs admission.certificate and admission.key, or admission.tlsNames: API servers call webhooks over TLS only (docs/admission.md)",
    );
  const pair = { cert: textOf("admission.certificate", certificate), key: textOf("admission.key", key) };
  return tlsOptions(pair, { clientAuthority });
}

function tlsOptions(
  pair: { readonly cert: string; readonly key: string },
  { clientAuthority }: { readonly clientAuthority?: string | undefined },
): TlsOptions {
  const options = {
    ...pair,
    ...(clientAuthority === undefined ? {} : { ca: textOf("admission.clientAuthority", clientAuthority) }),
  };
  try {
    // A file that is being written is empty for a moment: a context takes it, and the server would show no certificate.
    checkPair({ certificate: pair.cert, key: pair.key });
    createSecureContext(options);
  } catch (cause) {
    throw new PortolanError(
      `admission.certificate and admission.key are no certificate and its key in PEM: ${causeText(cause)}`,
      [],
      cause,
    );
  }
  return {
    ...options,
    minVersion: "TLSv1.2",
    ...(clientAuthority === undefined ? {} : { requestCert: true, rejectUnauthorized: true }),
  };
}

function textOf(field: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new PortolanError(`${field} cannot be read: ${fileTrouble(cause)}`, [], cause);
  }
}
