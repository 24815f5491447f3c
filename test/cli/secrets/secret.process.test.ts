import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../../lib/cli/program.ts";
import { makeWrappingKey } from "../../../lib/secrets/environment-key.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "portolan-secret-"));
  for (const name of ["a", "b"]) {
    const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const files = ["-keyout", join(folder, `${name}.key`), "-out", join(folder, `${name}.crt`), "-subj", `/CN=${name}`];
    execFileSync("openssl", [...args, ...files], { stdio: "ignore" });
  }
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => vi.stubEnv("PORTOLAN_SECRETS_KEY", makeWrappingKey()));
afterEach(() => vi.unstubAllEnvs());

const run = async (...args: readonly string[]): Promise<string> => (await ran(...args)).told;

async function ran(...args: readonly string[]): Promise<{ readonly code: number; readonly told: string }> {
  const lines: string[] = [];
  const say = (line: string) => lines.push(line);
  const terminal = { out: say, err: say, colours: picocolors.createColors(false) };
  const store = args[1] === "key" ? [] : ["--store", join(folder, "store")];
  const code = await runCli(["node", "portolan", ...args, ...store], terminal);
  return { code, told: lines.join("\n") };
}

const base64 = (file: string) => readFileSync(join(folder, file)).toString("base64");

function secretFile(data: Readonly<Record<string, string>>): string {
  const file = join(folder, "secret.yaml");
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "shop", namespace: "bookshop" }, data };
  writeFileSync(file, JSON.stringify(object));
  return file;
}

describe("portolan secret", () => {
  it("stores a pair that fits together, and lists and forgets it", async () => {
    const file = secretFile({ "tls.crt": base64("a.crt"), "tls.key": base64("a.key"), "ca.crt": base64("b.crt") });
    expect(await run("secret", "apply", "-f", file)).toBe("bookshop/shop");
    expect(await run("secret", "list")).toBe("bookshop/shop");
    expect(await run("secret", "rewrap")).toBe("0 secrets encrypted again, 1 unchanged");
    expect(await run("secret", "delete", "shop", "-n", "bookshop")).toBe("bookshop/shop");
    expect(await run("secret", "list")).toContain("the store holds no secret: `portolan secret apply");
  });

  it("stores credentials for registries, and refuses what Docker could not read", async () => {
    const written = (text: string) => secretFile({ ".dockerconfigjson": Buffer.from(text).toString("base64") });
    expect(await run("secret", "apply", "-f", written('{"auths":{"ghcr.io":{"auth":"bWU6aHVudGVyMg=="}}}'))).toBe(
      "bookshop/shop",
    );
    const { code, told } = await ran("secret", "apply", "-f", written("hunter2"));
    expect([code, told]).toEqual([1, expect.stringContaining("is not a Docker configuration")]);
    expect(told).not.toContain("hunter2");
    await run("secret", "delete", "bookshop/shop");
  });

  it("forgets one by the name that list prints, and says so where there is none", async () => {
    await run("secret", "apply", "-f", secretFile({ "tls.crt": base64("a.crt"), "tls.key": base64("a.key") }));
    expect(await ran("secret", "delete", "shop")).toEqual({
      code: 1,
      told: "portolan: there is no secret default/shop; there is one in bookshop: -n bookshop",
    });
    expect(await ran("secret", "delete", "bookshop/shop", "-n", "other")).toMatchObject({ code: 2 });
    expect(await ran("secret", "delete", "bookshop/shop/cert")).toMatchObject({ code: 2 });
    expect(await ran("secret", "delete", "bookshop/shop")).toEqual({ code: 0, told: "bookshop/shop" });
    expect(await ran("secret", "delete", "bookshop/shop")).toMatchObject({
      code: 1,
      told: expect.stringContaining("there is no secret bookshop/shop; `portolan secret list`"),
    });
  });

  it("passes over a Secret without values, and stores its neighbour", async () => {
    const file = secretFile({ "tls.crt": base64("a.crt"), "tls.key": base64("a.key") });
    const empty = join(folder, "empty.yaml");
    writeFileSync(empty, "apiVersion: v1\nkind: Secret\nmetadata: {name: later, namespace: bookshop}\n");
    const { code, told } = await ran("secret", "apply", "-f", empty, file);
    expect([code, told]).toEqual([
      0,
      expect.stringMatching(/later: has no values: nothing is stored[\s\S]*bookshop\/shop$/),
    ]);
    expect(await run("secret", "delete", "bookshop/shop")).toBe("bookshop/shop");
  });

  it("tells programs in JSON what it did", async () => {
    const file = secretFile({ "tls.crt": base64("a.crt"), "tls.key": base64("a.key") });
    const named = '{"namespace":"bookshop","name":"shop"}';
    expect(await run("secret", "apply", "-f", file, "--json")).toBe(named);
    expect(await run("secret", "list", "--json")).toBe(named);
    expect(await run("secret", "rewrap", "--json")).toBe('{"sealedAnew":0,"leftAlone":1}');
    expect(await run("secret", "delete", "bookshop/shop", "--json")).toBe(named);
    expect(await run("secret", "key", "--json")).toMatch(/^\{"key":"[A-Za-z0-9+/]{43}="\}$/);
  });

  it.each<[string, () => Readonly<Record<string, string>>, string]>([
    [
      "a key of another certificate",
      () => ({ "tls.crt": base64("a.crt"), "tls.key": base64("b.key") }),
      "is not the certificate's",
    ],
    [
      "half a pair",
      () => ({ "tls.crt": base64("a.crt") }),
      "has a certificate without a key, or a key without a certificate",
    ],
    ["nothing of use", () => ({ password: "aGk=" }), "has no certificate, key or CA for a proxy"],
    ["what is no PEM", () => ({ "tls.crt": "aGk=", "tls.key": "czNjcmV0" }), "cannot be read as PEM"],
    ["what is no base64", () => ({ "tls.crt": "!", "tls.key": "!" }), "is no base64"],
  ])("refuses %s, and says nothing of what it holds", async (_what, data, message) => {
    const said = await run("secret", "apply", "-f", secretFile(data()));
    expect(said).toContain(message);
    expect(said).toContain("no secret was stored");
    expect(said).not.toMatch(/czNjcmV0|s3cret|BEGIN/);
    expect(await run("secret", "list")).toContain("the store holds no secret: `portolan secret apply");
  });

  it("wants a key, and makes one", async () => {
    vi.stubEnv("PORTOLAN_SECRETS_KEY", "");
    expect(await run("secret", "list")).toContain("set PORTOLAN_SECRETS_KEY");
    expect(await run("secret", "key")).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  });
});
