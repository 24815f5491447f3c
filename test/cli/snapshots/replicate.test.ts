import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import picocolors from "picocolors";
import { afterAll, expect, it } from "vitest";
import { runCli } from "../../../lib/cli/program.ts";

const folder = await mkdtemp(join(tmpdir(), "portolan-replicate-"));
afterAll(() => rm(folder, { recursive: true }));

async function told(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  const terminal = { out: say, err: say, colours: picocolors.createColors(false) };
  const code = await runCli(["node", "portolan", ...args], terminal);
  return { code, text: lines.join("\n") };
}

it("refuses to copy a store onto itself, however it is named", async () => {
  const sample = new URL("../../../samples/bookshop", import.meta.url).pathname;
  const store = join(folder, "store");
  expect((await told("push", sample, "--store", store)).code).toBe(0);
  for (const copy of [store, `${store}/`, relative(process.cwd(), store)]) {
    const { code, text } = await told("replicate", copy, "--store", store);
    expect([code, text]).toEqual([1, expect.stringContaining("the copy is the store itself")]);
  }
});
