import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Authority, rootsOf } from "../../lib/ca/authority.ts";
import { authorityKey, authorityStore } from "../../lib/ca/authority-store.ts";
import {
  type CertificateAnswer,
  type CertificateAuthorityOptions,
  certificateAuthority,
} from "../../lib/ca/certificate-authority.ts";
import { makeSigner } from "../../lib/ca/make-signer.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { requestFor, testWrapper } from "./requests.ts";

const startMs = Date.parse("2026-03-01T12:00:00Z");
const day = 24 * 3_600_000;
const web = { namespace: "shop", serviceAccount: "web", pod: "web-1", clusterId: "one" };

async function testAuthority(options: Partial<CertificateAuthorityOptions> = {}, store: ObjectStore = memoryStore()) {
  const stored = authorityStore(store, testWrapper());
  const active = await makeSigner("cluster.local", startMs);
  const authority: Authority = { version: 1, trustDomain: "cluster.local", active };
  await stored.write(authority, undefined);
  const clock = { nowMs: startMs };
  const errors: unknown[] = [];
  const ca = certificateAuthority({
    stored,
    now: () => clock.nowMs,
    onError: (cause) => errors.push(cause),
    ...options,
  });
  return { ca, stored, store, authority, clock, errors };
}

function created(answer: CertificateAnswer) {
  if (answer.kind !== "created") throw new Error(`refused: ${answer.reason}`);
  const [leaf = "", ...rest] = answer.chain;
  return { leaf: new X509Certificate(leaf), rest, record: answer.record };
}

describe("certificateAuthority", () => {
  it.each(["P-256", "P-384", "RSA 2048"] as const)(
    "gives a workload with a key of %s its own identity",
    async (type) => {
      const { ca, authority } = await testAuthority();
      const { csr, key } = await requestFor(type);
      const { leaf, rest, record } = created(await ca.create({ workload: web, csr, validitySeconds: 0 }));
      const root = new X509Certificate(authority.active.certificate);
      expect(leaf.subjectAltName).toBe("URI:spiffe://cluster.local/ns/shop/sa/web");
      expect(leaf.subject).toBeFalsy();
      expect(leaf.ca).toBe(false);
      expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
      expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true);
      const { createPrivateKey } = await import("node:crypto");
      expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
      expect(Date.parse(leaf.validTo)).toBe(startMs + day);
      expect(Date.parse(leaf.validFrom)).toBe(startMs - 120_000);
      expect(rest).toEqual([authority.active.certificate]);
      expect(record).toEqual({
        identity: "spiffe://cluster.local/ns/shop/sa/web",
        serial: leaf.serialNumber.toLowerCase(),
        notAfter: "2026-03-02T12:00:00.000Z",
        keyType: type,
        pod: "web-1",
        clusterId: "one",
      });
    },
  );

  it("gives as long as asked for, up to its maximum and the end of its own certificate", async () => {
    const { ca, clock } = await testAuthority({ longestMs: 2 * day });
    const { csr } = await requestFor();
    const asked = async (validitySeconds: number) => ca.create({ workload: web, csr, validitySeconds });
    expect(Date.parse(created(await asked(3600)).leaf.validTo)).toBe(startMs + 3_600_000);
    expect(Date.parse(created(await asked(2 * 24 * 3600)).leaf.validTo)).toBe(startMs + 2 * day);
    expect(await asked(2 * 24 * 3600 + 1)).toMatchObject({ status: 400, reason: expect.stringContaining("maximum") });
    const endMs = startMs + 3_650 * day;
    clock.nowMs = endMs - 1_000;
    expect(Date.parse(created(await asked(0)).leaf.validTo)).toBe(endMs);
    clock.nowMs = endMs;
    expect(await asked(0)).toMatchObject({ kind: "refused", status: 503 });
  });

  it.each([
    ["", "web"],
    ["shop", ""],
    ["shop/sa/admin", "web"],
    ["shop", "web/../admin"],
    ["shop", "web,URI:spiffe://cluster.local/ns/a/sa/b"],
    ["Shop", "web"],
    ["shop", "web\u0000"],
    ["shop", "wéb"],
    ["shop", "web "],
  ])("refuses an identity of %j and %j, which Kubernetes has not", async (namespace, serviceAccount) => {
    const { ca } = await testAuthority();
    const { csr } = await requestFor();
    const answer = await ca.create({ workload: { namespace, serviceAccount }, csr, validitySeconds: 0 });
    expect(answer).toMatchObject({ kind: "refused", status: 400 });
  });

  it("gives the holder of a certificate no other identity than that one, of another trust domain least of all", async () => {
    const { ca } = await testAuthority();
    const { csr } = await requestFor();
    const asked = async (spiffeId: string) => ca.create({ workload: { ...web, spiffeId }, csr, validitySeconds: 0 });
    expect((await asked("spiffe://cluster.local/ns/shop/sa/web")).kind).toBe("created");
    for (const id of ["spiffe://partner.example/ns/shop/sa/web", "spiffe://cluster.local/ns/shop/sa/admin"])
      expect(await asked(id)).toMatchObject({ kind: "refused", status: 403 });
  });

  it("reports some refusals of a service account in a minute, and not each", async () => {
    const { ca, clock } = await testAuthority();
    const asked = async () => ca.create({ workload: web, csr: "none", validitySeconds: 0 });
    const reported = async () => {
      const answers = [];
      for (let n = 0; n < 30; n += 1) answers.push(await asked());
      return answers.filter((answer) => answer.kind === "refused" && answer.isReported).length;
    };
    expect(await reported()).toBe(10);
    clock.nowMs += 60_000;
    expect(await reported()).toBe(10);
  });

  it("counts certificates of a pod and of an identity, each for a minute", async () => {
    const { ca, clock } = await testAuthority({ perMinute: { pod: 2, identity: 3 } });
    const { csr } = await requestFor();
    const asked = async (pod: string, namespace = "shop") =>
      (await ca.create({ workload: { ...web, namespace, pod }, csr, validitySeconds: 0 })).kind;
    expect([await asked("a"), await asked("a"), await asked("a")]).toEqual(["created", "created", "refused"]);
    expect([await asked("b"), await asked("c"), await asked("c", "other")]).toEqual(["created", "refused", "created"]);
    clock.nowMs += 60_000;
    expect(await asked("a")).toBe("created");
  });

  it("looks at the store and counts by the minute as before, when its clock is set back by a day", async () => {
    const { ca, stored, authority, clock } = await testAuthority({ perMinute: { pod: 1, identity: 9 } });
    const { csr } = await requestFor();
    clock.nowMs += day;
    const asked = () => ca.create({ workload: web, csr, validitySeconds: 0 });
    expect((await asked()).kind).toBe("created");
    expect(await asked()).toMatchObject({ status: 413 });
    clock.nowMs -= day;
    expect(await asked()).toMatchObject({ status: 413 });
    const next = await makeSigner("cluster.local", startMs);
    await stored.write({ ...authority, active: next }, await stored.read());
    clock.nowMs += 60_000;
    expect(created(await asked()).rest).toEqual([next.certificate]);
  });

  it("goes on with the CA that it has read while the store does not answer, and says so", async () => {
    const inner = memoryStore();
    let isDown = false;
    const get: ObjectStore["get"] = async (key, condition) => {
      if (isDown) throw new Error("the store does not answer");
      return inner.get(key, condition);
    };
    const { ca, clock, errors } = await testAuthority({}, { ...inner, get });
    const { csr } = await requestFor();
    const request = { workload: web, csr, validitySeconds: 0 };
    created(await ca.create(request));
    isDown = true;
    clock.nowMs += 11_000;
    created(await ca.create(request));
    expect(String(errors)).toContain("the store does not answer");
  });

  it("remembers for some seconds that the CA cannot be opened, logs that some times, and then tries again", async () => {
    const inner = memoryStore();
    let reads = 0;
    let isDown = true;
    const get: ObjectStore["get"] = async (key, condition) => {
      reads += 1;
      if (isDown) throw new Error("the store does not answer");
      return inner.get(key, condition);
    };
    const { ca, clock, errors } = await testAuthority({}, { ...inner, get });
    const { csr } = await requestFor();
    const asked = async () => (await ca.create({ workload: web, csr, validitySeconds: 0 })).kind;
    for (let request = 0; request < 30; request += 1) expect(await asked()).toBe("refused");
    expect([reads, errors.length]).toEqual([1, 10]);
    isDown = false;
    clock.nowMs += 4_000;
    expect([await asked(), reads]).toEqual(["refused", 1]);
    clock.nowMs += 1_000;
    expect([await asked(), reads]).toEqual(["created", 2]);
  });

  it("refuses while there is no CA, and signs once there is one", async () => {
    const stored = authorityStore(memoryStore(), testWrapper());
    const clock = { nowMs: startMs };
    const errors: unknown[] = [];
    const ca = certificateAuthority({ stored, now: () => clock.nowMs, onError: (cause) => errors.push(cause) });
    const { csr } = await requestFor();
    const request = { workload: web, csr, validitySeconds: 0 };
    expect(await ca.create(request)).toMatchObject({ kind: "refused", status: 503 });
    expect(String(errors)).toContain("portolan ca init");
    const active = await makeSigner("cluster.local", startMs);
    await stored.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
    clock.nowMs += 11_000;
    created(await ca.create(request));
  });

  it("serves new roots before their key signs, and signs with it once it is active", async () => {
    const { ca, stored, authority, clock } = await testAuthority();
    const { csr } = await requestFor();
    const request = { workload: web, csr, validitySeconds: 0 };
    created(await ca.create(request));
    const next = await makeSigner("cluster.local", startMs);
    await stored.write({ ...authority, next }, await stored.read());
    clock.nowMs += 11_000;
    const during = created(await ca.create(request));
    expect(during.leaf.verify(new X509Certificate(authority.active.certificate).publicKey)).toBe(true);
    expect(during.rest).toEqual([authority.active.certificate + next.certificate]);
    expect(await ca.roots()).toEqual([authority.active.certificate, next.certificate]);
    await stored.write({ ...authority, active: next }, await stored.read());
    clock.nowMs += 11_000;
    const after = created(await ca.create(request));
    expect(after.leaf.verify(new X509Certificate(next.certificate).publicKey)).toBe(true);
  });

  it("makes a server's certificate for DNS names", async () => {
    const { ca, authority } = await testAuthority();
    const made = await ca.serverCertificate(["istiod.istio-system.svc", "istiod"]);
    const leaf = new X509Certificate(made.certificate);
    expect(leaf.checkHost("istiod.istio-system.svc")).toBe("istiod.istio-system.svc");
    expect(leaf.checkHost("other.istio-system.svc")).toBeUndefined();
    expect(leaf.verify(new X509Certificate(authority.active.certificate).publicKey)).toBe(true);
    const { createPrivateKey } = await import("node:crypto");
    expect(leaf.checkPrivateKey(createPrivateKey(made.key))).toBe(true);
  });
});

describe("authorityStore", () => {
  it("stores nothing of the CA in clear", async () => {
    const { store, authority } = await testAuthority();
    const found = await store.get(authorityKey);
    const text = found.kind === "found" ? new TextDecoder().decode(found.bytes) : "";
    expect(text.length).toBeGreaterThan(100);
    for (const secret of [authority.active.key, "PRIVATE KEY", "CERTIFICATE", "cluster.local"])
      expect(text).not.toContain(secret);
  });

  it("refuses a CA that another key has sealed, or that was changed", async () => {
    const { store } = await testAuthority();
    await expect(authorityStore(store, testWrapper()).read()).rejects.toThrow("the CA in the store: ");
    const wrapper = testWrapper();
    const other = memoryStore();
    const stored = authorityStore(other, wrapper);
    const active = await makeSigner("cluster.local", startMs);
    await stored.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
    const found = await other.get(authorityKey);
    const envelope = JSON.parse(found.kind === "found" ? new TextDecoder().decode(found.bytes) : "");
    const sealed = `${envelope.sealed[0] === "A" ? "B" : "A"}${envelope.sealed.slice(1)}`;
    await other.put(authorityKey, new TextEncoder().encode(JSON.stringify({ ...envelope, sealed })));
    await expect(stored.read()).rejects.toThrow("it was changed");
  });

  it("writes nothing over what another command wrote meanwhile", async () => {
    const { stored, authority } = await testAuthority();
    const before = await stored.read();
    await stored.write({ ...authority, trustDomain: "a" }, before);
    await expect(stored.write({ ...authority, trustDomain: "b" }, before)).rejects.toThrow("Try again");
    await expect(stored.write(authority, undefined)).rejects.toThrow("Try again");
    expect((await stored.read())?.authority.trustDomain).toBe("a");
  });

  it("gives each root once", async () => {
    const active = await makeSigner("cluster.local", startMs);
    expect(rootsOf({ version: 1, trustDomain: "", active, next: { ...active } })).toEqual([active.certificate]);
  });
});
