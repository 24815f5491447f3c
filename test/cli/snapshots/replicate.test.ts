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

it("has a copy take over when its original is gone, and before that only by force", async () => {
  const sample = new URL("../../../samples/bookshop", import.meta.url).pathname;
  const [east, west] = [join(folder, "east"), join(folder, "west")];
  const takeOver = (store: string, ...more: readonly string[]) =>
    told("recover", "--take-over", "--store", store, "--why", "a test", ...more);
  expect((await told("push", sample, "--store", east)).code).toBe(0);
  expect((await told("replicate", relative(process.cwd(), west), "--store", relative(process.cwd(), east))).code).toBe(
    0,
  );
  expect(await takeOver(east)).toEqual({ code: 1, text: expect.stringContaining("this store is no copy") });
  expect(await takeOver(west)).toEqual({ code: 1, text: expect.stringContaining(`the original, ${east}, answers`) });
  expect((await told("recover", "--force", "--store", west)).code).toBe(2);
  const back = await told("replicate", east, "--store", west);
  expect([back.code, back.text]).toEqual([1, expect.stringContaining(`${west} is itself a copy of ${east}`)]);
  await rm(east, { recursive: true });
  expect(await takeOver(west)).toEqual({ code: 0, text: expect.stringContaining("generation 2000") });
});
