import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkIdentity, identityIn } from "../../lib/agent/identity/identity.ts";
import { createAuthority, issueIdentity } from "../e2e/certificates.ts";

describe("an identity", () => {
  let folder: string;
  let own: { certificate: string; key: string; roots: string };
  let other: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-identity-"));
    const roots = createAuthority(folder);
    const read = (id: string, file: string) => readFileSync(join(issueIdentity(roots, id), file), "utf8");
    const issued = issueIdentity(roots, "spiffe://cluster.local/ns/a/sa/a");
    own = {
      certificate: readFileSync(join(issued, "cert.pem"), "utf8"),
      key: readFileSync(join(issued, "key.pem"), "utf8"),
      roots: readFileSync(roots, "utf8"),
    };
    other = read("spiffe://cluster.local/ns/b/sa/b", "key.pem");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("is read from what a command of one's own, Vault and SPIRE print", () => {
    const { certificate, key, roots } = own;
    expect(identityIn(JSON.stringify(own))).toEqual(own);
    const vault = { data: { certificate, private_key: key, issuing_ca: roots, ca_chain: [roots] } };
    expect(identityIn(JSON.stringify(vault))).toEqual(own);
    const der = (pem: string) => new X509Certificate(pem).raw.toString("base64");
    const svid = {
      x509_svid: der(certificate),
      x509_svid_key: createPrivateKey(key).export({ type: "pkcs8", format: "der" }).toString("base64"),
      bundle: Buffer.concat([new X509Certificate(roots).raw, new X509Certificate(roots).raw]).toString("base64"),
    };
    const spire = identityIn(JSON.stringify({ svids: [svid] }));
    expect(checkIdentity(spire, Date.now()).notAfterMs).toBeGreaterThan(Date.now());
    expect(spire.roots.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  });

  it.each([
    ["another's key", () => ({ ...own, key: other }), "the key is not that of the certificate"],
    [
      "half a certificate",
      () => ({ ...own, certificate: own.certificate.slice(0, 100) }),
      "the certificate cannot be read",
    ],
    ["no roots", () => ({ ...own, roots: "" }), "the roots cannot be read"],
  ])("is none with %s", (_what, identity, why) => {
    expect(() => checkIdentity(identity(), Date.now())).toThrow(why);
  });

  it("is none when it is over, and what prints none is told what is wanted", () => {
    expect(() => checkIdentity(own, Date.now() + 10 * 86_400_000)).toThrow("was good until");
    expect(() => identityIn("permission denied")).toThrow("it printed no identity");
  });
});
