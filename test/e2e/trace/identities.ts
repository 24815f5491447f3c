import { execFile } from "node:child_process";
import { createPrivateKey, createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Files of a certificate. */
export interface CertificateFiles {
  readonly chain: string;
  readonly key: string;
}

/** What servers and clients of a test prove who they are with. */
export interface Certificates {
  readonly authority: string;
  readonly server: CertificateFiles;
  /** By the URI in it. */
  readonly clients: ReadonlyMap<string, { readonly cert: string; readonly key: string }>;
}

/** An authority of its own, a server's certificate, and one for each identity. */
export async function issueCertificates(directory: string, identities: Iterable<string>): Promise<Certificates> {
  const at = (name: string) => join(directory, name);
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  const authority = at("ca.pem");
  await run("openssl", ["req", "-x509", ...made, "-subj", "/CN=authority", "-keyout", at("ca.key"), "-out", authority]);
  const issue = async (name: string, subject: string, alternative: string): Promise<CertificateFiles> => {
    const [key, request, chain, extensions] = ["key", "csr", "pem", "ext"].map((end) => at(`${name}.${end}`));
    if (key === undefined || request === undefined || chain === undefined || extensions === undefined)
      throw new Error("four endings give four paths");
    await writeFile(extensions, `subjectAltName=${alternative}\n`);
    await run("openssl", ["req", ...made, "-subj", subject, "-keyout", key, "-out", request]);
    const signed = ["-CA", authority, "-CAkey", at("ca.key"), "-days", "2", "-CAcreateserial"];
    await run("openssl", ["x509", "-req", "-in", request, ...signed, "-extfile", extensions, "-out", chain]);
    return { chain, key };
  };
  const server = await issue("server", "/CN=test", "DNS:test");
  const clients = new Map<string, { readonly cert: string; readonly key: string }>();
  for (const identity of new Set(identities)) {
    // Istio's certificates have no subject.
    const { chain, key } = await issue(`client-${clients.size}`, "/", `URI:${identity}`);
    clients.set(identity, { cert: await readFile(chain, "utf8"), key: await readFile(key, "utf8") });
  }
  return { authority, server, clients };
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Signs tokens with a key whose other half it gives. */
export interface TokenSigner {
  /** A key set for providers. */
  readonly jwks: string;
  sign(claims: object): string;
}

/** The same key in every run: what is told apart here is what tokens say. */
export function createTokenSigner(): TokenSigner {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key: KeyObject = createPrivateKey(privateKey.export({ type: "pkcs8", format: "pem" }));
  const jwks = JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "test", alg: "ES256" }] });
  return {
    jwks,
    sign(claims) {
      const text = `${base64({ alg: "ES256", kid: "test", typ: "JWT" })}.${base64(claims)}`;
      const signature = createSign("SHA256").update(text).sign({ key, dsaEncoding: "ieee-p1363" });
      return `${text}.${signature.toString("base64url")}`;
    },
  };
}
