/** A CA whose key AWS KMS keeps: local-kms signs, behind a front that verifies the signatures of requests as AWS does. */
import { X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { authorityStore } from "../../lib/ca/authority-store.ts";
import { certificateAuthority } from "../../lib/ca/certificate-authority.ts";
import { importSigner } from "../../lib/ca/import-signer.ts";
import { makeSigner } from "../../lib/ca/make-signer.ts";
import { awsKms } from "../../lib/secrets/aws-kms.ts";
import { makeWrappingKey } from "../../lib/secrets/environment-key.ts";
import { signingService } from "../../lib/secrets/wrapping-keys.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { requestFor, rsaRoot, testWrapper } from "../ca/requests.ts";
import { runPortolan } from "../cli/run-portolan.ts";
import { type KmsServer, startKms } from "../secrets/kms-server.ts";
import { lacks } from "../skip.ts";
import { serverBinary } from "./server-binaries.ts";

const isThere = serverBinary("local-kms-20260228") !== undefined;
const workload = { namespace: "shop", serviceAccount: "web" };
const services = awsKms({ onWarning: () => expect.unreachable("nothing is wrapped here") });

describe.skipIf(lacks(isThere, "local-kms: npm run test:servers builds it with Go"))("a CA whose key KMS keeps", () => {
  let kms: KmsServer;
  beforeAll(async () => {
    kms = await startKms("local-kms");
  });
  afterAll(() => kms?.close());
  afterEach(() => {
    kms.mood = "well";
    kms.allowed.clear();
    vi.unstubAllEnvs();
  });

  const actAs = (identity: string, secret?: string) => {
    for (const [name, value] of Object.entries(kms.environment(identity, secret))) vi.stubEnv(name, value);
  };

  async function openCa(spec: "ECC_NIST_P256" | "RSA_2048" = "ECC_NIST_P256") {
    actAs("OPERATOR");
    const name = `aws-kms:${await kms.createKey(spec)}`;
    const active = await makeSigner("cluster.local", Date.now(), { name, services });
    const stored = authorityStore(memoryStore(), testWrapper());
    await stored.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
    actAs("SERVER");
    kms.allowed.set("SERVER", ["Sign"]);
    kms.calls.length = 0;
    const errors: unknown[] = [];
    const clock = { nowMs: Date.now() };
    const ca = certificateAuthority({
      stored,
      services: awsKms({ onWarning: () => {} }),
      now: () => clock.nowMs,
      onError: (cause) => errors.push(cause),
    });
    const { csr } = await requestFor();
    return { ca, active, name, errors, clock, ask: () => ca.create({ workload, csr, validitySeconds: 0 }) };
  }

  it.each(["ECC_NIST_P256", "RSA_2048"] as const)(
    "signs with %s, is its own root, and needs the right to sign alone",
    async (spec) => {
      const { active, name, ask, errors } = await openCa(spec);
      const root = new X509Certificate(active.certificate);
      expect([root.ca, root.verify(root.publicKey), active.key]).toEqual([true, true, name]);
      const answer = await ask();
      expect([answer.kind, errors]).toEqual(["created", []]);
      const leaf = new X509Certificate(answer.kind === "created" ? (answer.chain[0] ?? "") : "");
      expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true);
      expect(leaf.subjectAltName).toBe("URI:spiffe://cluster.local/ns/shop/sa/web");
      // One when it is opened, which shows that key and certificate belong together.
      expect(kms.calls).toEqual(["SERVER Sign", "SERVER Sign"]);
    },
  );

  it("makes certificates for servers, too", async () => {
    const { ca, active } = await openCa();
    const { certificate } = await ca.serverCertificate(["istiod.istio-system.svc"]);
    expect(new X509Certificate(certificate).verify(new X509Certificate(active.certificate).publicKey)).toBe(true);
  });

  it.each([
    ["throttling", "throttles kms:Sign"],
    ["hanging up", "is not reached for kms:Sign"],
    ["silent", "is not reached for kms:Sign"],
  ] as const)("has agents try again while KMS is %s, says why, and signs afterwards", async (mood, reason) => {
    const { ask, errors, clock } = await openCa();
    kms.mood = mood;
    expect(await ask()).toMatchObject({ kind: "refused", status: 503 });
    expect(String(errors)).toContain(reason);
    // The client has tried more than once before it gave up.
    if (mood === "throttling") expect(kms.calls.length).toBeGreaterThan(1);
    const calls = kms.calls.length;
    expect(await ask()).toMatchObject({ kind: "refused", status: 503 });
    expect(kms.calls.length).toBe(calls);
    kms.mood = "well";
    clock.nowMs += 6_000;
    expect((await ask()).kind).toBe("created");
  });

  it("bears a throttled call or two: the client backs off", async () => {
    const { ask } = await openCa();
    expect((await ask()).kind).toBe("created");
    kms.mood = "throttling";
    const calls = kms.calls.length;
    const answers = Promise.all([ask(), ask(), ask()]);
    await vi.waitFor(() => expect(kms.calls.length).toBeGreaterThan(calls + 2), { timeout: 5_000 });
    kms.mood = "well";
    expect((await answers).map(({ kind }) => kind)).toEqual(["created", "created", "created"]);
  });

  it("says what is missing where it may not sign, or the request's signature is another's", async () => {
    const { ask, errors } = await openCa();
    kms.allowed.set("SERVER", ["Decrypt"]);
    expect((await ask()).kind).toBe("refused");
    expect(String(errors)).toContain("denies kms:Sign");
    actAs("SERVER", "portolan-secret");
    kms.environment("SERVER", "another secret");
    const other = await openCa().then(({ name }) => signingService(name, awsKms({ onWarning: () => {} })));
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "not the secret");
    await expect(other.sign(new Uint8Array(8), "ECDSA_SHA_256")).rejects.toThrow("InvalidSignatureException");
  });

  it("refuses a key that is not the certificate's", async () => {
    const { active } = await openCa();
    const name = `aws-kms:${await kms.createKey("ECC_NIST_P256")}`;
    const stored = authorityStore(memoryStore(), testWrapper());
    await stored.write({ version: 1, trustDomain: "cluster.local", active: { ...active, key: name } }, undefined);
    const errors: unknown[] = [];
    const ca = certificateAuthority({ stored, services, now: Date.now, onError: (cause) => errors.push(cause) });
    await expect(ca.roots()).rejects.toThrow("the CA's key is not its certificate's");
  });

  it("is made and imported by the command line, which stores no private key", async () => {
    actAs("OPERATOR");
    vi.stubEnv("PORTOLAN_SECRETS_KEY", makeWrappingKey());
    const folder = mkdtempSync(join(tmpdir(), "portolan-kms-ca-"));
    const key = `aws-kms:${await kms.createKey("ECC_NIST_P256")}`;
    const ca = (store: string, ...args: readonly string[]) =>
      runPortolan("ca", ...args, "--store", join(folder, store));
    expect(await ca("one", "init", "--key", key)).toMatchObject({ code: 0, err: "" });
    const { out: root } = await ca("one", "roots");
    mkdirSync(join(folder, "cacerts"));
    writeFileSync(join(folder, "cacerts", "ca-cert.pem"), `${root}\n`);
    const imported = await ca("two", "import", "--folder", join(folder, "cacerts"), "--key", key);
    expect(imported).toMatchObject({ code: 0, err: "" });
    expect(await ca("two", "roots")).toMatchObject({ out: root });
    expect((await ca("three", "import", "--folder", join(folder, "cacerts"))).err).toContain("has no ca-key.pem");
    expect((await ca("three", "init", "--key", "arn:aws:kms:x")).err).toContain("is not aws-kms:<ARN or alias>");
    rmSync(folder, { recursive: true });
  });

  it("is imported with the certificate that another CA has given its key, and with no other key's", async () => {
    const { active, name } = await openCa();
    actAs("OPERATOR");
    const publicKey = await signingService(name, services).publicKey();
    const files = { certificate: active.certificate, key: undefined };
    expect(importSigner(files, Date.now(), { name, publicKey }).key).toBe(name);
    const other = await rsaRoot();
    expect(() => importSigner({ ...files, certificate: other.certificate }, Date.now(), { name, publicKey })).toThrow(
      "is not the key of ca-cert.pem",
    );
  });
});
