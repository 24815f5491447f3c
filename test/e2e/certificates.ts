import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
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

/** A certificate authority for one test. */
export function createAuthority(directory: string): string {
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
    "2",
    "-subj",
    "/O=test",
    "-keyout",
    key,
    "-out",
    root,
  );
  return root;
}

/**
 * Gives a workload an identity of the authority, in the files that `withCertificateFiles` names.
 *
 * @returns their folder
 */
export function issueIdentity(authority: string, spiffeId: string): string {
  const directory = join(authority, "..", encodeURIComponent(spiffeId));
  mkdirSync(directory, { recursive: true });
  const key = join(directory, "key.pem");
  const request = join(directory, "csr.pem");
  const certificate = join(directory, "cert.pem");
  const extensions = join(directory, "ext.cnf");
  writeFileSync(extensions, `subjectAltName=critical,URI:${spiffeId}\nextendedKeyUsage=serverAuth,clientAuth\n`);
  openssl(
    "req",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-subj",
    "/O=test",
    "-keyout",
    key,
    "-out",
    request,
  );
  openssl(
    "x509",
    "-req",
    "-in",
    request,
    "-CA",
    authority,
    "-CAkey",
    join(authority, "..", "root-key.pem"),
    "-days",
    "1",
    "-extfile",
    extensions,
    "-out",
    certificate,
  );
  writeSecret(directory, "default", {
    tlsCertificate: { certificateChain: { filename: certificate }, privateKey: { filename: key } },
  });
  writeSecret(directory, "ROOTCA", { validationContext: { trustedCa: { filename: authority } } });
  return directory;
}
