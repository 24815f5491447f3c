import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { program } from "../programs.ts";

const cli = await program("cli");
const progress = new URL("../../lib/cli/progress.ts", import.meta.url).href;
const memory = new URL("../../lib/storage/memory.ts", import.meta.url).href;
const samples = fileURLToPath(new URL("../../samples/bookshop", import.meta.url));
/** Runs what follows on a terminal of its own. */
const terminal = ["python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])"];

let folder = "";
let url = "";
/** How long the compile function takes to answer. */
let takesMs = 0;
const slow = createServer((_request, response) => {
  const told = { kind: "published", version: "0".repeat(64), generation: 1, diagnostics: [] };
  setTimeout(() => response.end(JSON.stringify(told)), takesMs);
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-patience-"));
  await writeFile(
    join(folder, "a.yaml"),
    "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: { name: a, namespace: shop }\nspec: { host: a }\n",
  );
  await new Promise<void>((listening) => slow.listen(0, "127.0.0.1", listening));
  const { port }: Pick<AddressInfo, "port"> = Object(slow.address());
  url = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  slow.close();
  await rm(folder, { recursive: true });
});

/** @returns all that it says, with what moves the cursor */
async function told(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const [command = "", ...args] = words;
  const { NO_COLOR: _no, FORCE_COLOR: _force, ...own } = process.env;
  const secret = "a secret of thirty-two characters";
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...own, CI: "", TERM: "xterm-256color", PORTOLAN_WEBHOOK_SECRET: secret, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += data));
  await new Promise((ended) => child.once("close", ended));
  return text.replaceAll("\r\n", "\n");
}

const push = (...more: readonly string[]) => [process.execPath, cli, "push", ".", "--url", url, ...more];

/** Fails without loading a compiler, so that it is quick on any machine. */
const wrong = [process.execPath, cli, "cost", "--proxies", "1", "--prices", "none.json"];

const erase = "\r\u001b[K";
const frame = /\[K[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] portolan (?:push|cost): /;

describe("a command that takes more than a second", () => {
  it("shows people that it is at work, on a line that is gone before it says what came of it", async () => {
    takesMs = 4_000;
    const text = await told([...terminal, ...push()]);
    expect(text).toMatch(frame);
    expect(text).toMatch(/: [2-4] s/);
    const last = text.slice(text.lastIndexOf(erase) + erase.length);
    expect(last).toMatch(/^published|^\S/);
    expect(last).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    expect(text).toContain("published");
  }, 60_000);

  it("is quiet in a pipe, in CI, and beside JSON", async () => {
    takesMs = 2_000;
    expect(await told(push())).not.toMatch(frame);
    expect(await told([...terminal, ...push()], { CI: "true" })).not.toMatch(frame);
    expect(await told([...terminal, ...push("--json")])).toMatch(/^\{/);
  }, 90_000);

  it("writes lines where no line can be written over", async () => {
    takesMs = 4_000;
    const text = await told([...terminal, ...push()], { TERM: "dumb" });
    expect(text).toMatch(/^portolan push is under way: \d s\n/);
    expect(text).not.toContain("\u001b");
  }, 60_000);

  it("says how far it is, even while it computes, goes on after a line of its own, and not when it is over", async () => {
    const busy = (command: string, when: string) =>
      `import { processProgress } from ${JSON.stringify(progress)};
       import { memoryStore } from ${JSON.stringify(memory)};
       const progress = processProgress(["node", "portolan", "${command}"], {}, true);
       const store = progress.counting(memoryStore());
       for (let i = 0; i < 1_500; i += 1) await store.get("a");
       await store.put("b", new Uint8Array());
       progress.observer.begin().stage("generate");
       ${when}
       await new Promise((started) => setTimeout(started, 300));
       for (const end = Date.now() + 3_000; Date.now() < end; );
       progress.end();`;
    const run = (command: string, when: string) =>
      told([process.execPath, "--input-type=module", "-e", busy(command, when)]);
    const text = await run("push", "");
    expect(text).toMatch(/portolan push: generate, 1,500 objects read, 1 object written, [1-3] s/);
    expect(text.endsWith(erase)).toBe(true);
    expect(await run("push", "progress.speaks();")).toMatch(frame);
    expect(await run("push", "progress.end();")).toBe("");
    // It goes on until somebody ends it, and has said that it does.
    expect(await run("dev", "progress.speaks();")).toBe("");
  }, 90_000);
});

it("a command that is quick shows nothing", async () => {
  const text = await told([...terminal, ...wrong]);
  expect(text).toContain("there is no such file");
  expect(text).not.toMatch(frame);
}, 60_000);

describe("colours", () => {
  const diagnosed = [process.execPath, cli, "validate", "wrong.yaml"];
  const isColoured = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const text = await told(words, env);
    expect(text).toMatch(/\[IST0106 unknown-field\]|none\.json cannot be read: there is no such file/);
    return text.includes("\u001b[31m");
  };
  beforeAll(() =>
    writeFile(
      join(folder, "wrong.yaml"),
      "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: { name: b, namespace: shop }\nspec: { hots: a }\n",
    ),
  );

  it.each([
    { where: "on a terminal, of a diagnostic", words: [...terminal, ...diagnosed], env: {}, want: true },
    { where: "in a pipe, of a diagnostic", words: diagnosed, env: {}, want: false },
    { where: "on a terminal", words: [...terminal, ...wrong], env: {}, want: true },
    { where: "in a pipe", words: wrong, env: {}, want: false },
    { where: "on a terminal with NO_COLOR", words: [...terminal, ...wrong], env: { NO_COLOR: "1" }, want: false },
    { where: "on a terminal that is dumb", words: [...terminal, ...wrong], env: { TERM: "dumb" }, want: false },
    { where: "in a pipe with FORCE_COLOR", words: wrong, env: { FORCE_COLOR: "1" }, want: true },
    { where: "on a terminal with --no-color", words: [...terminal, ...wrong, "--no-color"], env: {}, want: false },
    {
      where: "in a pipe with --color, whatever NO_COLOR says",
      words: [...wrong, "--color"],
      env: { NO_COLOR: "1" },
      want: true,
    },
  ])(
    "$where: $want",
    async ({ words, env, want }) => {
      expect(await isColoured(words, env)).toBe(want);
    },
    60_000,
  );

  it("are on standard error alone where standard output is a file", async () => {
    const script = `${process.execPath} ${cli} proxy-config clusters nobody.shop --store none > out.txt; ${process.execPath} ${cli} trace istio-ingressgateway-1.bookshop http://shop.example.com:10080/catalog --dir ${samples} > out.txt`;
    const text = await told([...terminal, "sh", "-c", script]);
    expect(text).toContain("\u001b[31mportolan:");
    const out = await readFile(join(folder, "out.txt"), "utf8");
    expect(out).toContain("route table");
    expect(out).not.toContain("\u001b");
  }, 60_000);
});
