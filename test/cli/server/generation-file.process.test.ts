import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileGenerations } from "../../../lib/cli/server/generation-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-generations-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (store: string, errors: unknown[] = [], where = folder) =>
  fileGenerations({ folder: where, store, onError: (cause) => errors.push(cause) });

async function written(): Promise<void> {
  while ((await readdir(folder)).filter((name) => name.endsWith(".json")).length === 0)
    await new Promise((resolve) => setImmediate(resolve));
}

describe("the newest generation of HEAD that was believed", () => {
  it("is known again after a restart, for each store by itself", async () => {
    const first = await open("s3://mesh/prod");
    first.believed(7);
    first.believed(5);
    expect(first.newest()).toBe(7);
    await written();
    expect((await open("s3://mesh/prod")).newest()).toBe(7);
    expect((await open("s3://mesh/test")).newest()).toBe(0);
  });

  it("is not forgotten where its file cannot be read", async () => {
    (await open("store")).believed(7);
    await written();
    const [file = ""] = await readdir(folder);
    await writeFile(join(folder, file), "{");
    await expect(open("store")).rejects.toThrow(`${join(folder, file)} cannot be read`);
    await writeFile(join(folder, file), "{}");
    await expect(open("store")).rejects.toThrow("it holds no generation");
  });

  it("is kept in memory where no file can be written, which is told", async () => {
    const errors: unknown[] = [];
    const taken = join(folder, "taken");
    const generations = await open("store", errors, taken);
    await writeFile(taken, "");
    generations.believed(7);
    expect(generations.newest()).toBe(7);
    while (errors.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(String(errors[0])).toMatch(/taken\/\w+\.json cannot be written.*PORTOLAN_GENERATIONS/);
  });
});
