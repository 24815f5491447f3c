import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGenerationKeeper } from "../../lib/agent/source/generation.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-generation-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const head = (generation: number) => ({ generation, publication: "", steps: [] });

describe("the newest HEAD that an agent has believed", () => {
  it("is none where nothing was written, and is kept over a restart", async () => {
    const keeper = await createGenerationKeeper(folder, true);
    expect(() => keeper.check(head(1))).not.toThrow();
    await keeper.keep(head(7));
    const restarted = await createGenerationKeeper(folder, true);
    expect(() => restarted.check(head(6))).toThrow("went back from generation 7 to 6");
  });

  it("is not lowered by a process that has believed an older one", async () => {
    const [ahead, behind] = [await createGenerationKeeper(folder, true), await createGenerationKeeper(folder, true)];
    await ahead.keep(head(7));
    await behind.keep(head(6));
    const restarted = await createGenerationKeeper(folder, true);
    expect(() => restarted.check(head(6))).toThrow("went back from generation 7 to 6");
  });

  it.each(["", "{", "{}", '{"generation":"7"}'])("is an error where the file says something else: %j", async (text) => {
    await writeFile(join(folder, "generation.json"), text);
    await expect(createGenerationKeeper(folder, true)).rejects.toThrow("is not known; delete it");
    await expect(createGenerationKeeper(folder, false)).resolves.toBeDefined();
  });

  it("is an error where the file cannot be read: an older HEAD would be believed", async () => {
    await mkdir(join(folder, "generation.json"));
    await expect(createGenerationKeeper(folder, true)).rejects.toThrow("is not known; delete it");
  });
});
