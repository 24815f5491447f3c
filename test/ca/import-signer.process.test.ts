import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authorityStore } from "../../lib/ca/authority-store.ts";
import { certificateAuthority } from "../../lib/ca/certificate-authority.ts";
import { type AuthorityFiles, importSigner } from "../../lib/ca/import-signer.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { otherKey, requestFor, testWrapper } from "./requests.ts";

const folder = mkdtempSync(join(tmpdir(), "portolan-ca-"));
const path = (name: string) => join(folder, name);
const text = (name: string) => readFileSync(path(name), "utf8");
const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { stdio: ["ignore", "pipe", "ignore"] });
const keyForms = {
  rsa: ["-newkey", "rsa:2048"],
  ec: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
  p384: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
} as const;

/** A root as istiod makes its own, the key in the form of older tools. */
function makeRoot(name: string, form: keyof typeof keyForms): void {
  openssl(
    "req",
    "-x509",
    ...keyForms[form],
    "-nodes",
    "-days",
    "30",
    "-subj",
    "/O=cluster.local",
    "-addext",
    "keyUsage=critical,keyCertSign,cRLSign",
    "-keyout",
    path(`${name}-key.pem`),
    "-out",
    path(`${name}.pem`),
  );
  const old = form === "rsa" ? ["rsa", "-traditional"] : ["ec"];
  openssl(...old, "-in", path(`${name}-key.pem`), "-out", path(`${name}-key.pem`));
}

function makeIntermediate(name: string, root: string, days = "20"): void {
  openssl(
    "req",
    ...keyForms.rsa,
    "-nodes",
    "-subj",
    `/O=Istio/CN=${name}`,
    "-keyout",
    path(`${name}-key.pem`),
    "-out",
    path("csr.pem"),
  );
  writeFileSync(
    path("ext.cnf"),
    "basicConstraints=critical,CA:true,pathlen:0\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n",
  );
  openssl(
    "x509",
    "-req",
    "-in",
    path("csr.pem"),
    "-CA",
    path(`${root}.pem`),
    "-CAkey",
    path(`${root}-key.pem`),
    "-days",
    days,
    "-extfile",
    path("ext.cnf"),
    "-out",
    path(`${name}.pem`),
  );
}

let plugged: AuthorityFiles;
beforeAll(() => {
  makeRoot("root", "rsa");
  makeRoot("ec-root", "ec");
  makeRoot("p384-root", "p384");
  makeIntermediate("middle", "root");
  openssl(
    "req",
    "-x509",
    ...keyForms.ec,
    "-nodes",
    "-days",
    "30",
    "-subj",
    "/CN=leaf",
    "-addext",
    "basicConstraints=critical,CA:false",
    "-keyout",
    path("leaf-key.pem"),
    "-out",
    path("leaf.pem"),
  );
  plugged = {
    certificate: text("middle.pem"),
    key: text("middle-key.pem"),
    chain: text("middle.pem") + text("root.pem"),
    roots: text("root.pem"),
  };
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("importSigner", () => {
  it.each([
    ["istiod's own root, RSA", () => ({ certificate: text("root.pem"), key: text("root-key.pem") }), 2],
    ["an own root, P-256", () => ({ certificate: text("ec-root.pem"), key: text("ec-root-key.pem") }), 2],
    ["an own root, P-384", () => ({ certificate: text("p384-root.pem"), key: text("p384-root-key.pem") }), 2],
    ["an intermediate of cacerts", () => plugged, 3],
  ] as const)("takes over %s, whose certificates OpenSSL verifies", async (_what, files, length) => {
    const signer = importSigner(files(), Date.now());
    const stored = authorityStore(memoryStore(), testWrapper());
    await stored.write({ version: 1, trustDomain: "cluster.local", active: signer }, undefined);
    const ca = certificateAuthority({ stored, now: Date.now, onError: (cause) => expect.unreachable(String(cause)) });
    const { csr } = await requestFor("RSA 2048");
    const workload = { namespace: "shop", serviceAccount: "web" };
    const answer = await ca.create({ workload, csr, validitySeconds: 0 });
    const chain = answer.kind === "created" ? answer.chain : [];
    expect(chain.length).toBe(length);
    writeFileSync(path("given.pem"), chain[0] ?? "");
    writeFileSync(path("between.pem"), chain.slice(1, -1).join(""));
    writeFileSync(path("roots.pem"), chain.at(-1) ?? "");
    const between = length > 2 ? ["-untrusted", path("between.pem")] : [];
    const verified = openssl("verify", "-x509_strict", "-CAfile", path("roots.pem"), ...between, path("given.pem"));
    expect(String(verified)).toContain("OK");
  });

  it.each([
    ["a key of another", () => ({ ...plugged, key: otherKey() }), "not the key of ca-cert.pem"],
    ["no key", () => ({ ...plugged, key: "none" }), "cannot be read as a private key"],
    [
      "a workload's certificate",
      () => ({ certificate: text("leaf.pem"), key: text("leaf-key.pem") }),
      "no CA's certificate",
    ],
    [
      "two certificates",
      () => ({ ...plugged, certificate: text("middle.pem") + text("root.pem") }),
      "not one certificate",
    ],
    ["another root", () => ({ ...plugged, roots: text("ec-root.pem") }), "not signed by a root"],
    ["no root", () => ({ ...plugged, roots: "none" }), "root-cert.pem holds no certificate"],
    [
      "a certificate that is none",
      () => ({ ...plugged, certificate: text("middle.pem").replace("MII", "AAA") }),
      "cannot be read",
    ],
  ])("refuses %s, and quotes no key", (_what, files, reason) => {
    const wrong = files();
    expect(() => importSigner(wrong, Date.now())).toThrow(reason);
    try {
      importSigner(wrong, Date.now());
    } catch (cause) {
      expect(String(cause)).not.toContain("PRIVATE KEY");
    }
  });

  it("refuses what is over, and what is to come", () => {
    expect(() => importSigner(plugged, Date.now() + 25 * 24 * 3_600_000)).toThrow("was valid until");
    expect(() => importSigner(plugged, Date.now() - 24 * 3_600_000)).toThrow("is valid from");
  });
});
