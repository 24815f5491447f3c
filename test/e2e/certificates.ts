import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";

const openssl = (...args: readonly string[]): void => {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
};

const secretType = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

/** One secret as the file that Envoy watches in place of an SDS server. */
function writeSecret(directory: string, name: string, secret: object): void {
  const resource = { "@type": secretType, name, ...secret };
  writeFileSync(join(directory, `${name}.json`), JSON.stringify({ versionInfo: "1", resources: [resource] }));
}

/** A certificate authority for one test. @param days that it holds */
export function createAuthority(directory: string, days = 2): string {
  mkdirSync(directory, { recursive: true });
  const root = join(directory, "root.pem");
  const key = join(directory, "root-key.pem");
  openssl(
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-days",
    String(days),
    "-subj",
    "/O=test",
    "-keyout",
    key,
    "-out",
    root,
  );
  return root;
}

/** Has the authority sign a key pair of its own for somebody. @returns the files of the certificate and the key */
function issue(
  authority: string,
  directory: string,
  subjectAltName: string,
  { days = 1, purposes = "serverAuth,clientAuth" }: { readonly days?: number; readonly purposes?: string } = {},
) {
  mkdirSync(directory, { recursive: true });
  const file = (name: string) => join(directory, name);
  const [key, request] = [file("key.pem"), file("csr.pem")];
  const [certificate, extensions] = [file("cert.pem"), file("ext.cnf")];
  writeFileSync(extensions, `subjectAltName=critical,${subjectAltName}\nextendedKeyUsage=${purposes}\n`);
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/O=test"];
  openssl("req", ...curve, "-keyout", key, "-out", request);
  const signer = ["-CA", authority, "-CAkey", join(authority, "..", "root-key.pem")];
  openssl(
    "x509",
    "-req",
    "-in",
    request,
    ...signer,
    "-days",
    String(days),
    "-extfile",
    extensions,
    "-out",
    certificate,
  );
  return { certificate, key };
}

/** Gives a server the certificate for a name or an address. @param days until it expires; it has, below 0 */
export const issueServer = (authority: string, name: string, days = 1) =>
  issue(authority, join(authority, "..", `${name}-${days}`), `${isIP(name) === 0 ? "DNS" : "IP"}:${name}`, { days });

/**
 * Gives a workload an identity of the authority, in the files that `withCertificateFiles` names.
 *
 * @param options.purposes names of the extended key usage
 * @returns their folder
 */
export function issueIdentity(
  authority: string,
  spiffeId: string,
  options: { readonly days?: number; readonly purposes?: string } = {},
): string {
  const directory = join(authority, "..", encodeURIComponent(spiffeId));
  const { certificate, key } = issue(authority, directory, `URI:${spiffeId}`, options);
  writeSecret(directory, "default", {
    tlsCertificate: { certificateChain: { filename: certificate }, privateKey: { filename: key } },
  });
  writeSecret(directory, "ROOTCA", { validationContext: { trustedCa: { filename: authority } } });
  return directory;
}
