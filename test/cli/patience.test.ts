import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const cli = fileURLToPath(new URL("../../functions/cli.ts", import.meta.url));
const patience = new URL("../../lib/cli/patience.ts", import.meta.url).href;
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

/** @returns all that it says */
async function told(words: readonly string[]): Promise<string> {
  const [command = "", ...args] = words;
  const env = { ...process.env, PORTOLAN_WEBHOOK_SECRET: "a secret of thirty-two characters" };
  const child = spawn(command, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += data));
  await new Promise((ended) => child.once("close", ended));
  return text.replaceAll("\r", "");
}

const push = (...more: readonly string[]) => [process.execPath, cli, "push", ".", "--url", url, ...more];

describe("a command that takes more than a second", () => {
  it("says so to people, before it says what came of it", async () => {
    takesMs = 4_000;
    expect(await told([...terminal, ...push()])).toMatch(/^portolan push is under way …\n(?:.*\n)*published/);
  }, 60_000);

  it("is quiet in a pipe, and beside JSON", async () => {
    takesMs = 2_000;
    expect(await told(push())).not.toContain("under way");
    expect(await told([...terminal, ...push("--json")])).toMatch(/^\{/);
  }, 60_000);

  it("says so even while it computes, and not after it has said something itself", async () => {
    const busy = (when: string) =>
      `import { patience } from ${JSON.stringify(patience)};
       const isOver = patience(["node", "portolan", "push"], true);
       ${when}
       await new Promise((started) => setTimeout(started, 300));
       for (const end = Date.now() + 3_000; Date.now() < end; );`;
    const run = (when: string) => told([process.execPath, "--input-type=module", "-e", busy(when)]);
    expect(await run("")).toBe("portolan push is under way …\n");
    expect(await run("isOver();")).toBe("");
  }, 60_000);
});

it("a command that is quick says nothing of it", async () => {
  takesMs = 0;
  expect(await told([...terminal, ...push()])).not.toContain("under way");
}, 60_000);
