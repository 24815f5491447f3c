import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { afterAll, describe, expect, it } from "vitest";
import { runCli } from "../../../lib/cli/program.ts";
import { makeSigningKey } from "../../../lib/snapshot/head/signing-keys.ts";

const folder = mkdtempSync(join(tmpdir(), "portolan-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** One command on a settings file. */
async function run(command: string, text: string, ...more: readonly string[]) {
  const file = join(folder, "portolan.yaml");
  writeFileSync(file, text);
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  const terminal = { out: say, err: say, colours: picocolors.createColors(false) };
  const code = await runCli(["node", "portolan", ...command.split(" "), file, ...more], terminal);
  return { code, text: lines.join("\n") };
}

const key = JSON.stringify(await makeSigningKey("roots"));

/** What goes together with nothing, or says what it cannot; with the line, and the words that have to be there. */
const refused: readonly (readonly [string, string])[] = [
  ["store: s\nfront:\n  host: 0.0.0.0\n", ":3 .*0.0.0.0 is open to other machines.*set front.authentication"],
  ["front:\n  moves: 'on'\n", ":2 .*front.moves lets operators move HEAD.*set front.authentication"],
  ["front:\n  host: 0.0.0.0\n  moves: 'on'\n  authentication: 'off'\n", ":3 .*front.moves lets operators"],
  ["front:\n  authentication: {tokenz: 1}\n", ":2 .*front.authentication: "],
  ["secretsKey: short\n", ":1 .*secretsKey is not one or two keys of 32 bytes"],
  ["store: htp://x\n", ":1 .*htp://x is no store. Use a folder .*, s3://BUCKET/PREFIX .*, gs://BUCKET/PREFIX"],
  ["store: s3://\n", ":1 .*s3:// is no store. Write s3://BUCKET/PREFIX"],
  ["storeCopy: s3://b/p?zone=1\n", ":1 .*has no parameter zone; it accepts .region= and .endpoint="],
  [`trust:\n  trustedKeys: '${key}'\n`, ":2 .*trust.trustedKeys holds a private key"],
  [
    "front:\n  port: 9000\n  grpcPort: 9000\n",
    ":3 .*front.grpcPort: is 9000, as front.port is: only one can listen there",
  ],
  ["health:\n  port: 8080\n", ":2 .*health.port: is 8080, as front.port is"],
  ["front:\n  ca: 'on'\n", ":2 .*front.ca: front.ca needs secretsKey"],
  ["front:\n  tlsPort: 0\n", ":2 .*front.tlsPort: front.tlsPort has no certificate: set front.ca to on"],
  ["front:\n  tlsPort: 0\n  tlsKey: key.pem\n", "front.tlsCertificate and front.tlsKey must be set together"],
  [
    "front:\n  tlsPort: 8080\n  tlsCertificate: a.pem\n  tlsKey: b.pem\n",
    ":2 .*front.tlsPort: is 8080, as front.port is: only one can listen there",
  ],
  [
    "front: {host: '::', authentication: {}}\nhealth: {port: 9000}\ncompile:\n  webhook: {host: '::1', port: 8080}\n",
    ":4 .*compile.webhook.port: is 8080, as front.port is",
  ],
  ["compile:\n  webhook: {secret: a b c}\n", ":1 .*compile.webhook.secret: 3 secrets"],
  ["collectors:\n  - {kind: mcp, address: 'ftp://x'}\n", ":2 .*a source is xds://host:port"],
  ["collectors:\n  - {kind: consul, address: 'ftp://x'}\n", ":2 .*an address of Consul is"],
];

describe("settings that serve would refuse", () => {
  it.each(refused)("are refused by `settings check` too, in the words of fields: %s", async (text, says) => {
    const checked = await run("settings check", text);
    expect(checked).toEqual({ code: 1, text: expect.stringMatching(new RegExp(says, "s")) });
    expect(checked.text).not.toMatch(/PORTOLAN_|hunter/);
    // Serve says the same, and starts nothing.
    const served = await run("serve --settings", text);
    expect(served).toEqual({ code: 1, text: expect.stringMatching(new RegExp(says, "s")) });
  });

  it("are said beside what is wrong with single fields, in the order of the file", async () => {
    const text =
      "secretsKey: short\nfront:\n  prot: 80\n  moves: 'on'\nstore: htp://x\ncollectors:\n  - {kind: dir, foldr: x}\ncompile: {pollDelayMs: 0}\n";
    const { code, text: said } = await run("settings check", text);
    expect(code).toBe(1);
    expect(Array.from(said.matchAll(/portolan\.yaml:(\d) .*?: .*?(\S+)(?= \[)/g), ([, line]) => Number(line))).toEqual([
      1, 3, 4, 5, 7, 7, 8,
    ]);
    expect(said).toContain("has 7 errors");
  });

  it("are not guessed from a field that says nothing: an address is not open because its authentication is misspelt", async () => {
    const { text: said } = await run("settings check", "front:\n  host: 0.0.0.0\n  authentication: 5\n");
    expect(said).toMatch(/:3 .*front.authentication/);
    expect(said).not.toContain("open to other machines");
  });

  it("are those of what runs: a front's are nothing to a process without one", async () => {
    const text = `front: {host: 0.0.0.0}\ncollectors: [{kind: dir, folder: ${folder}, source: Main}]\n`;
    expect((await run("serve --settings", text, "--only", "collectors")).text).not.toContain(
      "is open to other machines",
    );
  });

  it("are no ports of processes that run apart, nor any port, nor those of several addresses", async () => {
    const text = "front: {port: 9000, grpcPort: 0}\nhealth: {port: 0}\ncompile: {webhook: {port: 9000}}\n";
    expect((await run("settings check", text)).text).toContain("compile.webhook.port: is 9000, as front.port is");
    for (const part of ["front", "compile"])
      expect((await run("settings check", text, "--only", part)).text).toContain("is valid");
    const apart = "front: {port: 9000}\nhealth: {port: 9000, host: 10.0.0.1}\n";
    expect((await run("settings check", apart)).text).toContain("is valid");
    // Nor of one that says nothing, which is not the one that it has by default.
    const wrong = await run("settings check", "front: {port: none}\nhealth: {port: 8080}\n");
    expect(wrong.text).not.toContain("as front.port is");
  });

  it("are not judged by a file that is not on this machine, and a warning says so", async () => {
    const text =
      "front: {host: 0.0.0.0, authentication: '@/nowhere/at/all'}\ntrust: {signingKey: '@/nowhere/key'}\ncompile: {}\n";
    const { code, text: said } = await run("settings check", text);
    expect(code).toBe(0);
    expect(said).toMatch(/warning.*\/nowhere\/at\/all: there is no such file; what it holds was not looked at/s);
    expect(said).toContain("is valid");
  });

  it("count with the environment, as they do for serve", async () => {
    process.env.PORTOLAN_AUTHENTICATION = "off";
    try {
      expect((await run("settings check", "front: {host: 0.0.0.0}\n")).code).toBe(0);
    } finally {
      process.env.PORTOLAN_AUTHENTICATION = "";
    }
  });

  it("say which field a variable goes before, and not what it says", async () => {
    process.env.PORTOLAN_WEBHOOK_SECRET = "s3cret-of-the-variable";
    try {
      const { code, text } = await run("settings check", "compile:\n  webhook: {secret: of-the-file}\n");
      expect(code).toBe(0);
      expect(text).toMatch(/:2 .*the variable PORTOLAN_WEBHOOK_SECRET has another value and takes precedence/);
      expect(text).not.toContain("s3cret");
      const alike = await run("settings check", "compile:\n  webhook: {secret: s3cret-of-the-variable}\n");
      expect(alike.text).not.toContain("goes before");
    } finally {
      process.env.PORTOLAN_WEBHOOK_SECRET = "";
    }
  });
});
