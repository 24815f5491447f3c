import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { lacks } from "../skip.ts";

const entry = (name: string): string => fileURLToPath(new URL(`../../functions/${name}`, import.meta.url));

function run(node: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(node, args, { encoding: "utf8" });
  return { status, stdout, stderr };
}

/** A Node of this machine that is too old, if it has one. */
const oldNode = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find((path) => /^v(1\d|20|21)\./.test(spawnSync(path, ["--version"], { encoding: "utf8" }).stdout ?? ""));

describe("the server", () => {
  const started = (env: Readonly<Record<string, string>>) => {
    const own = { PORT: "0", PORTOLAN_STORE: join(tmpdir(), "portolan-nowhere"), HOME: tmpdir(), ...env };
    const { status, stdout, stderr } = spawnSync(process.execPath, [entry("server.node.ts")], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, ...own },
    });
    return { status, stdout, lines: stderr.split("\n").length - 1, stderr };
  };
  const fatally = (text: string) => ({ status: 1, stdout: "", lines: 1, stderr: expect.stringContaining(text) });

  it("ends with one line that says what to do, where a setting is wrong", () => {
    expect(started({ PORT: "abc" })).toEqual(fatally('PORT is "abc"; it is a whole number from 0 to 65535'));
    expect(started({ PORTOLAN_MAX_HOLD_MS: "1s" })).toEqual(fatally('PORTOLAN_MAX_HOLD_MS is "1s"'));
    expect(started({ HOST: "0.0.0.0" })).toEqual(fatally("set PORTOLAN_AUTHENTICATION"));
    expect(started({ PORTOLAN_STORE: "s3://mesh", AWS_EC2_METADATA_DISABLED: "true" })).toEqual(
      fatally("set AWS_REGION"),
    );
  }, 60_000);

  it("ends with one line, and leaves nothing open, where a port is taken", async () => {
    const other = createServer();
    await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
    const { port }: Pick<AddressInfo, "port"> = Object(other.address());
    for (const name of ["PORT", "PORTOLAN_GRPC_PORT"])
      expect(started({ [name]: String(port) })).toEqual(
        fatally(`127.0.0.1:${port} (address already in use); set ${name} to another port`),
      );
    other.close();
  }, 60_000);
});

describe("serve", () => {
  it("ends, and leaves nothing open, where the port of its webhook is taken", async () => {
    const other = createServer();
    await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
    const { port }: Pick<AddressInfo, "port"> = Object(other.address());
    const folder = mkdtempSync(join(tmpdir(), "portolan-taken-"));
    const settings = join(folder, "settings.yaml");
    writeFileSync(settings, `store: ${join(folder, "store")}\ncompile: {webhook: {port: ${port}}}\n`);
    const { status, stderr } = spawnSync(
      process.execPath,
      [entry("portolan.mjs"), "serve", "--settings", settings, "--only", "compile"],
      { encoding: "utf8", timeout: 20_000, killSignal: "SIGKILL" },
    );
    other.close();
    rmSync(folder, { recursive: true });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining(
        `127.0.0.1:${port} (address already in use); set compile.webhook.port to another`,
      ),
    });
  }, 60_000);
});

describe("an entry point", () => {
  it("starts where Node runs TypeScript", () => {
    expect(run(process.execPath, entry("portolan.mjs"), "--version")).toMatchObject({ status: 0, stderr: "" });
  });

  it.each(["portolan.mjs", "server.mjs"])("says what to do where Node does not: %s", (name) => {
    expect(run(process.execPath, "--no-experimental-strip-types", entry(name))).toEqual({
      status: 1,
      stdout: "",
      stderr: `portolan: Node ${process.versions.node} does not run TypeScript here; was it told not to?
  \`npm ci\` has brought a newer one along: \`npm start\`, \`npx portolan\` and \`npm run serve\` use it
`,
    });
  });

  it.skipIf(lacks(oldNode !== undefined, "an old Node on PATH"))(
    "is read by a Node that is too old, and names the one that it needs",
    () => {
      const { status, stderr } = run(oldNode ?? "", entry("server.mjs"));
      expect(status).toBe(1);
      expect(stderr).toMatch(
        /^portolan: needs Node 22\.22 or newer; this is Node \d+\.\d+\.\d+\n {2}`npm ci` has brought/,
      );
    },
  );
});
