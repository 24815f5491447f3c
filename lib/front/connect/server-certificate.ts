import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { causeText, fileTrouble } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { CertificateAuthority } from "../../ca/certificate-authority.ts";
import { keepRenewed, type Renewed } from "./keep-renewed.ts";

/** A server's certificate, with those between it and a root, and its private key; PEM. */
export interface ServerPair {
  readonly certificate: string;
  readonly key: string;
}

/** A server's certificate that is renewed while the server runs. */
export type KeptCertificate = Renewed<ServerPair>;

/** Where a certificate comes from: what it is now, and when to ask again. */
export interface CertificateSource {
  read(): Promise<{ readonly pair: ServerPair; readonly againMs: number }>;
}

/** How soon a source that failed is asked again. */
const retryMs = 10_000;
/** How often files are looked at. */
const lookMs = 10_000;

/** Files in PEM that another program renews. */
export const certificateFiles = (certificate: string, key: string): CertificateSource => ({
  async read() {
    const [cert, privateKey] = await Promise.all([textOf(certificate), textOf(key)]);
    return { pair: { certificate: cert, key: privateKey }, againMs: lookMs };
  },
});

/** Certificates that the mesh's CA makes for DNS names: a new one after half the time of the one before. */
export const authorityCertificate = (
  authority: Pick<CertificateAuthority, "serverCertificate">,
  names: readonly string[],
): CertificateSource => ({
  async read() {
    const { certificate, key, notBeforeMs, notAfterMs } = await authority.serverCertificate(names);
    return { pair: { certificate, key }, againMs: Math.max((notAfterMs - notBeforeMs) / 2, retryMs) };
  },
});

/**
 * Keeps a server's certificate new. One that cannot be read, or whose key is another's, leaves the one before in use.
 *
 * @throws PortolanError when there is none at first
 */
export const keepCertificate = (
  source: CertificateSource,
  onError: (cause: unknown) => void,
): Promise<KeptCertificate> =>
  keepRenewed(
    async () => {
      const { pair, againMs } = await source.read();
      checkPair(pair);
      return { value: pair, againMs };
    },
    { retryMs, onError },
  );

/** @throws PortolanError that quotes nothing of the key */
export function checkPair({ certificate, key }: ServerPair): void {
  try {
    // A context takes a certificate that is empty, and shows none.
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)))
      throw new PortolanError("the key is another certificate's");
    createSecureContext({ cert: certificate, key });
  } catch (cause) {
    throw new PortolanError(`the server's certificate and key cannot be used: ${causeText(cause)}`);
  }
}

const textOf = (path: string): Promise<string> =>
  readFile(path, "utf8").catch((cause: unknown) => {
    throw new PortolanError(`cannot read ${path}: ${fileTrouble(cause)}`, [], cause);
  });
