import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../../lib/cli/program.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "portolan-keys-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What a command prints on standard output; what it says besides, where it fails. */
async function run(...args: readonly string[]): Promise<string> {
  const out: string[] = [];
  const err: string[] = [];
  const colours = picocolors.createColors(false);
  const terminal = { out: (line: string) => out.push(line), err: (line: string) => err.push(line), colours };
  const code = await runCli(["node", "portolan", ...args, "--keyring", join(folder, "keys.json")], terminal);
  return code === 0 ? out.join("\n") : `failed: ${[...out, ...err].join("\n")}`;
}

const identify = async (publicKeys: string, token: string) => {
  const authentication = readAuthentication(JSON.stringify({ tokens: JSON.parse(publicKeys) }));
  return authentication.identify({ header: (name) => (name === "authorization" ? `Bearer ${token}` : undefined) });
};
const publicKeys = () => run("keys", "list", "--use", "tokens", "--public");

describe("portolan keys and token", () => {
  it("say how to make a key where there is none", async () => {
    const told: string[] = [];
    const tell = (line: string) => told.push(line);
    const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
    const file = join(folder, "none.json");
    await runCli(["node", "portolan", "keys", "list", "--keyring", file], terminal);
    await runCli(["node", "portolan", "keys", "list", "--use", "roots", "--keyring", file], terminal);
    expect(told).toEqual([
      `${file} holds no key: \`portolan keys create --use tokens\` makes one`,
      `${file} holds no key for roots: \`portolan keys create --use roots\` makes one`,
    ]);
  });

  it("make tokens that a front believes which was told the public keys", async () => {
    await run("keys", "create", "--use", "tokens");
    const token = await run(
      "token",
      "create",
      "--namespace",
      "shop",
      "--service-account",
      "web",
      "--cluster",
      "east",
      "--class",
      "a",
      "b",
      "--ttl",
      "1h",
    );
    expect(await identify(await publicKeys(), token)).toEqual({
      kind: "identified",
      caller: {
        kind: "node",
        subject: "shop/web",
        namespace: "shop",
        serviceAccount: "web",
        clusterId: "east",
        classes: ["a", "b"],
      },
    });
    for (const scope of ["operator", "v1"]) {
      const other = await run("token", "create", `--${scope}`, "--ttl", "30m");
      expect(await identify(await publicKeys(), other)).toMatchObject({ caller: { kind: scope } });
    }
  });

  it("tell programs in JSON what they made", async () => {
    const first: { readonly kid: string } = JSON.parse(await run("keys", "create", "--use", "tokens", "--json"));
    const second: { readonly kid: string } = JSON.parse(await run("keys", "create", "--use", "tokens", "--json"));
    expect(JSON.parse(await run("keys", "rotate", "--use", "tokens", "--json"))).toEqual(second);
    expect(JSON.parse(await run("keys", "remove", first.kid, "--json"))).toEqual(first);
    const made: { readonly token: string } = JSON.parse(
      await run("token", "create", "--operator", "--ttl", "1h", "--json"),
    );
    expect(await identify(await publicKeys(), made.token)).toMatchObject({ caller: { kind: "operator" } });
  });

  it("change the key without a gap: trusted first, signing next, the old one gone last", async () => {
    const old = await run("keys", "create", "--use", "tokens");
    const token = () => run("token", "create", "--operator", "--ttl", "1h");
    const [oldToken, oldKeys] = [await token(), await publicKeys()];
    const next = await run("keys", "create", "--use", "tokens");
    expect(await run("keys", "list")).toBe(`${old}\ttokens\tsigns\n${next}\ttokens\ttrusted`);
    expect(await identify(oldKeys, await token())).toMatchObject({ kind: "identified" });

    expect(await run("keys", "rotate", "--use", "tokens")).toBe(next);
    const bothKeys = await publicKeys();
    expect(await identify(oldKeys, await token())).toMatchObject({ kind: "refused" });
    for (const one of [oldToken, await token()])
      expect(await identify(bothKeys, one)).toMatchObject({ kind: "identified" });

    expect(await run("keys", "remove", next)).toContain(`${next} signs`);
    await run("keys", "remove", old);
    expect(await identify(await publicKeys(), oldToken)).toMatchObject({ kind: "refused" });
  });

  it("keep private keys and tokens to their owner, and never print one", async () => {
    await run("keys", "create", "--use", "tokens");
    const file = join(folder, "keys.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { d } = JSON.parse(readFileSync(file, "utf8")).keys[0];
    expect(d).toMatch(/^[\w-]{43}$/);
    expect((await run("keys", "list")) + (await publicKeys())).not.toContain(d);
    expect(await run("token", "create", "--operator", "--ttl", "1h", "--out", join(folder, "token"))).toBe("");
    expect(statSync(join(folder, "token")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, "token"), "utf8")).toMatch(/^[\w.-]+$/);
    expect(readdirSync(folder).sort()).toEqual(["keys.json", "token"]);
    chmodSync(file, 0o644);
    expect(await run("keys", "list")).toContain("others may read it");
  });

  it.each([
    [["token", "create", "--ttl", "1h"], "choose one of"],
    [["token", "create", "--operator", "--namespace", "a", "--ttl", "1h"], "choose one of"],
    [["token", "create", "--operator", "--class", "a", "--ttl", "1h"], "go with --namespace"],
    [["token", "create", "--operator"], "required option '--ttl"],
    [["token", "create", "--operator", "--ttl", "0s"], "a time is written"],
    [["token", "create", "--operator", "--ttl", "1h"], "there is no key for tokens"],
    [["keys", "rotate", "--use", "tokens"], "there is no other key"],
    [["keys", "remove", "a"], "there is no key a"],
    [["keys", "list", "--public"], "say which"],
  ])("say what is missing: %s", async (args, message) => {
    expect(await run(...args)).toContain(message);
  });

  it("sign what is published, and let nobody without the key go on from there", async () => {
    const samples = new URL("../../../samples/bookshop", import.meta.url).pathname;
    const store = ["--store", join(folder, "store")];
    await run("push", samples, ...store);
    await run("keys", "create", "--use", "roots");
    expect(await run("push", samples, ...store)).toContain("none of the trusted keys");
    expect(await run("fsck", ...store)).toContain("none of the trusted keys");
    expect(await run("sign", ...store)).toContain("generation 2");
    expect(await run("fsck", ...store)).toContain("2 publications");
    renameSync(join(folder, "keys.json"), join(folder, "elsewhere.json"));
    expect(await run("gc", ...store)).toContain("kept");
    expect(await run("rollback", ...store)).toContain("failed");
    expect(await run("sign", ...store)).toContain("there is no key for roots");
  });

  it("do not let a key for roots be trusted for tokens", async () => {
    await run("keys", "create", "--use", "roots");
    const keys = await run("keys", "list", "--use", "roots", "--public");
    expect(() => readAuthentication(JSON.stringify({ tokens: JSON.parse(keys) }))).toThrow("not for tokens");
  });
});
