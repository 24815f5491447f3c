import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
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

it("refuses a copy within its original, and an original within its copy, also by way of symbolic links", async () => {
  const sample = new URL("../../../samples/bookshop", import.meta.url).pathname;
  const place = join(folder, "places");
  const store = join(place, "mesh");
  expect((await told("push", sample, "--store", store)).code).toBe(0);
  await symlink(store, join(place, "link"));
  await symlink(place, join(folder, "around"));
  const refused = async (copy: string, original: string, words: string) =>
    expect([copy, await told("replicate", copy, "--store", original)]).toEqual([
      copy,
      { code: 1, text: expect.stringContaining(words) },
    ]);
  await refused(join(store, "copy"), store, "lies in its original");
  await refused(join(store, "blobs", "further", "down"), store, "lies in its original");
  await refused(join(place, "link", "copy"), store, "lies in its original");
  await refused(join(store, "copy"), join(place, "link"), "lies in its original");
  await refused(place, store, "holds its original");
  await refused(join(folder, "around"), store, "holds its original");
  await refused(join(place, "link"), store, "is the store itself");
  await refused("s3://bucket/east/west", "s3://bucket/east", "lies in its original");
  await refused("s3://bucket", "s3://bucket/east/", "holds its original");
  expect((await readdir(store)).filter((name) => name === "copy")).toEqual([]);
  expect((await told("replicate", `${store}-west`, "--store", join(place, "link"))).code).toBe(0);
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
