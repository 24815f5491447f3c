import { Pkcs10CertificateRequestGenerator } from "./x509.ts";

/** A certificate signing request, and the private key that it is signed with: PEM. */
export interface MadeRequest {
  readonly csr: string;
  readonly key: string;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Makes a key (ECDSA P-256) and a request for it. The request has no name: a CA that knows its caller takes none from it. */
export async function makeCertificateRequest(): Promise<MadeRequest> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const csr = await Pkcs10CertificateRequestGenerator.create({ keys, signingAlgorithm: algorithm });
  const bytes = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  const lines = bytes
    .toString("base64")
    .replace(/(.{64})/g, "$1\n")
    .trimEnd();
  return { csr: csr.toString("pem"), key: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n` };
}
