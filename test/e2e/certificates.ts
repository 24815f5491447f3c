import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";

const openssl = (...args: readonly string[]): void => {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
};

const secretType = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

/** One secret as the file that Envoy watches in place of an SDS server. */
function writeSecret(directory: string, name: string, secret: object): void {
  const resource = { "@type": secretType, name, ...secret };
  const path = join(directory, `${name}.json`);
  writeFileSync(`${path}.new`, JSON.stringify({ versionInfo: "1", resources: [resource] }));
  // Envoy looks again when a file takes the place of another.
  renameSync(`${path}.new`, path);
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

/** Has the authority say of certificates that they count no more. @returns its list of all of these, PEM */
export function revoke(authority: string, ...certificates: readonly string[]): string {
  const file = (name: string) => join(authority, "..", name);
  const [settings, list] = [file("revoked.cnf"), file("revoked.pem")];
  const own = [`database=${file("revoked.txt")}`, `crlnumber=${file("revoked-number")}`, "default_md=sha256"];
  writeFileSync(settings, ["[ca]", "default_ca=own", "[own]", ...own, "default_crl_days=1"].join("\n"));
  writeFileSync(file("revoked.txt"), "");
  writeFileSync(file("revoked-number"), "01\n");
  const ca = ["ca", "-config", settings, "-cert", authority, "-keyfile", file("root-key.pem")];
  for (const certificate of certificates) openssl(...ca, "-revoke", certificate);
  openssl(...ca, "-gencrl", "-out", list);
  return readFileSync(list, "utf8");
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
  writeIdentity(directory, { certificate, key, roots: authority });
  return directory;
}

/** Writes what `withCertificateFiles` names. @param files of the certificate, its key and the trusted roots */
export function writeIdentity(
  directory: string,
  files: { readonly certificate: string; readonly key: string; readonly roots: string },
): void {
  writeSecret(directory, "default", {
    tlsCertificate: { certificateChain: { filename: files.certificate }, privateKey: { filename: files.key } },
  });
  writeSecret(directory, "ROOTCA", { validationContext: { trustedCa: { filename: files.roots } } });
}
