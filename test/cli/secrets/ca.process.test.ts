import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { DescribedAuthority } from "../../../lib/ca/describe.ts";
import { makeWrappingKey } from "../../../lib/secrets/environment-key.ts";
import { rsaRoot } from "../../ca/requests.ts";
import { runPortolan } from "../run-portolan.ts";

const folder = mkdtempSync(join(tmpdir(), "portolan-ca-cli-"));
let root: Awaited<ReturnType<typeof rsaRoot>>;
let store: string;
let count = 0;

beforeAll(async () => {
  root = await rsaRoot();
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  count += 1;
  store = join(folder, `store-${count}`);
  vi.stubEnv("PORTOLAN_SECRETS_KEY", makeWrappingKey());
});
afterEach(() => vi.unstubAllEnvs());

const ca = (...args: readonly string[]) => runPortolan("ca", ...args, "--store", store);
async function described(...args: readonly string[]): Promise<DescribedAuthority> {
  const { code, out, err } = await ca(...args, "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
function secretFile(data: Readonly<Record<string, string>>): string {
  const file = join(folder, "secret.json");
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "istio-ca-secret" }, data };
  writeFileSync(file, JSON.stringify(object));
  return file;
}

describe("portolan ca", () => {
  it("makes a CA once, whose key is nowhere in clear, and prints its root", async () => {
    const { active, roots, trustDomain } = await described("init", "--trust-domain", "example.org");
    expect([active.subject, trustDomain, roots]).toEqual(["O=example.org", "example.org", [active]]);
    expect((await ca("roots")).out).toMatch(/^-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----$/);
    expect((await ca("init")).err).toContain("holds a CA already; --next");
    const names = readdirSync(store, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.includes("authority"),
    );
    expect(names.length).toBeGreaterThan(0);
    const texts = readdirSync(join(store, "secrets", "portolan.ca")).map((name) =>
      readFileSync(join(store, "secrets", "portolan.ca", name), "utf8"),
    );
    expect(texts.join("")).not.toMatch(/PRIVATE|CERTIFICATE|example\.org/);
    // It lies beside secrets, and is none of them.
    expect((await runPortolan("secret", "list", "--store", store)).out).toBe("");
    expect((await runPortolan("secret", "delete", "portolan.ca/authority", "--store", store)).code).toBe(1);
    expect((await ca("show")).code).toBe(0);
  });

  it("takes over istiod's own CA from its Secret, and cacerts from a folder", async () => {
    const file = secretFile({
      "ca-cert.pem": base64(root.certificate),
      "ca-key.pem": base64(root.key),
      "cert-chain.pem": "",
      "key.pem": "",
      "root-cert.pem": "",
    });
    const { active } = await described("import", "-f", file);
    expect(active.serial).toBe("01");
    const cacerts = join(folder, "cacerts");
    mkdirSync(cacerts, { recursive: true });
    writeFileSync(join(cacerts, "ca-cert.pem"), root.certificate);
    writeFileSync(join(cacerts, "ca-key.pem"), root.key);
    store = join(folder, "another-store");
    expect((await described("import", "--folder", cacerts)).active.serial).toBe("01");
  });

  it.each([
    [["import"], "name one of --folder and -f"],
    [["import", "--folder", "none"], "none has no ca-cert.pem"],
    [["init", "--trust-domain", "a/ns/b"], "which is no DNS name"],
    [["init", "--next"], "the store holds no CA"],
  ])("refuses %j", async (args, reason) => {
    const { code, err } = await ca(...args);
    expect([code, err]).toEqual([1, expect.stringContaining(reason)]);
  });

  it("names the store, and the place of what cannot be used", async () => {
    const { out } = await ca("init");
    expect(out).toContain(`store         ${store}`);
    expect((await ca("init")).err).toContain(`the store ${store} holds a CA already`);
    vi.stubEnv("PORTOLAN_SECRETS_KEY", makeWrappingKey());
    expect((await ca("show")).err).toMatch(/does not hold the key env-[0-9a-f]+ \(store /);
    store = join(folder, "empty-store");
    mkdirSync(store, { recursive: true });
    writeFileSync(join(store, "HEAD"), "{}");
    expect((await ca("show")).err).toContain(`(store ${store})`);
    const file = secretFile({ "ca-cert.pem": "!", "ca-key.pem": "!" });
    expect((await ca("import", "-f", file)).err).toContain(`(${file}:1): data of "ca-cert.pem" is not in base64`);
    writeFileSync(file, `${readFileSync(file, "utf8")}\n---\n${readFileSync(file, "utf8")}`);
    expect((await ca("import", "-f", file)).err).toContain("is not the only Secret");
    writeFileSync(file, "a: [");
    expect((await ca("import", "-f", file)).err).toMatch(/:1.*\n.*holds no Secret/s);
  });

  it("makes no default store by itself", async () => {
    const { code, err } = await runPortolan("ca", "init");
    expect([code, err]).toEqual([1, expect.stringContaining("there is no store at .portolan/store")]);
  });

  it("tells nothing of a key that does not fit", async () => {
    const other = await rsaRoot();
    const file = secretFile({ "ca-cert.pem": base64(root.certificate), "ca-key.pem": base64(other.key) });
    const { err } = await ca("import", "-f", file);
    expect(err).toContain("ca-key.pem is not the key of ca-cert.pem");
    expect(err).not.toContain(other.key.slice(40, 80));
  });

  it("rotates in three steps, none of which is early unless it is forced", async () => {
    const first = await described("init");
    const added = await described("init", "--next");
    expect(added.next?.serial).not.toBe(first.active.serial);
    expect(added.roots.length).toBe(2);
    vi.stubEnv("PORTOLAN_CA_MAX_HOURS", "a day");
    expect((await ca("activate")).err).toContain("it is a whole number from 1 to 8760");
    vi.stubEnv("PORTOLAN_CA_MAX_HOURS", "24");
    expect((await ca("activate")).err).toContain("some workloads do not trust the next CA yet; wait until");
    const activated = await described("activate", "--force");
    expect([activated.active.serial, activated.previous?.serial]).toEqual([added.next?.serial, first.active.serial]);
    expect(activated.roots.length).toBe(2);
    expect((await ca("retire")).err).toContain("are still valid; wait until");
    expect((await described("retire", "--force")).roots).toEqual([activated.active]);
    expect((await described("show")).previous).toBeUndefined();
  });

  it("is encrypted anew with the first of two keys, and opened by no other", async () => {
    const old = process.env.PORTOLAN_SECRETS_KEY;
    const before = await described("init");
    const fresh = makeWrappingKey();
    vi.stubEnv("PORTOLAN_SECRETS_KEY", `${fresh} ${old}`);
    expect(await described("rewrap")).toEqual(before);
    vi.stubEnv("PORTOLAN_SECRETS_KEY", fresh);
    expect(await described("show")).toEqual(before);
    vi.stubEnv("PORTOLAN_SECRETS_KEY", old);
    expect((await ca("show")).err).toContain("the CA in the store: PORTOLAN_SECRETS_KEY does not hold the key");
    vi.stubEnv("PORTOLAN_SECRETS_KEY", "");
    expect((await ca("show")).err).toContain("no key: set PORTOLAN_SECRETS_KEY");
  });
});
