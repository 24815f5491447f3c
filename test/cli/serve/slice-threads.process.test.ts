import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSliceThreads } from "../../../lib/cli/serve/slice-threads.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { fileKey } from "../../../lib/compile/shards/source-shard.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { sha256 } from "../../../lib/config/canonical-json.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { weightedShop } from "../../integration/weighted-shop.ts";

let where: string;
beforeEach(async () => {
  where = await mkdtemp(join(tmpdir(), "portolan-slices-"));
});
afterEach(() => rm(where, { recursive: true }));

type Files = Parameters<typeof writeShard>[2];

/** What a compile as a whole comes to. */
async function wholeVersion(files: Files): Promise<string> {
  const store = memoryStore();
  await writeShard(store, "main", files);
  return (await createRecompiler({ store })()).version;
}

function inThreads(options: { readonly threads: number }) {
  const log: string[] = [];
  const onTrouble = (reason: string) => log.push(reason);
  const threads = createSliceThreads({ where, ...options, onTrouble });
  const store = fileStore(where);
  const fanOut = { dispatch: threads.dispatch, most: 3, sliceBytes: 1, waitMs: 60_000, onTrouble };
  return { log, threads, store, recompile: createRecompiler({ store, fanOut }) };
}

describe("threads that compile slices", () => {
  it("lead to the root that a compile as a whole does, again and again", async () => {
    const { store, recompile, threads, log } = inThreads({ threads: 2 });
    try {
      for (const weight of [10, 20, 30]) {
        const files = await weightedShop(weight);
        await writeShard(store, "main", files);
        expect(await recompile()).toMatchObject({ kind: "published", version: await wholeVersion(files) });
      }
      expect(log).toEqual([]);
    } finally {
      await threads.close();
    }
  }, 60_000);

  it("are listened to for as long as they compile, and leave nothing behind of each slice", async () => {
    const { store, recompile, threads } = inThreads({ threads: 1 });
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => warnings.push(name);
    process.on("warning", onWarning);
    try {
      // Three slices each: more than the ten listeners that Node takes for a mistake.
      for (const weight of [10, 20, 30, 40, 50]) {
        await writeShard(store, "main", await weightedShop(weight));
        await recompile();
      }
      expect(warnings).not.toContain("MaxListenersExceededWarning");
    } finally {
      process.off("warning", onWarning);
      await threads.close();
    }
  }, 60_000);

  it("say what a slice lacks, with HEAD untouched", async () => {
    const { store, recompile, threads } = inThreads({ threads: 1 });
    try {
      const files = await weightedShop(10);
      await writeShard(store, "main", files);
      const [first] = files;
      await store.delete(fileKey("main", sha256(first?.text ?? "")));
      await expect(recompile()).rejects.toThrow(`source main lacks the content of ${first?.file}; fill it again`);
      expect(await readHead(store)).toBeUndefined();
    } finally {
      await threads.close();
    }
  }, 60_000);

  it("are started again when one ends in the midst of a slice, and a slice that none survives is given up", async () => {
    const { said, log, isPublished } = await withDyingThreads();
    expect(said).toMatch(/the thread of slice 1 of 3 has ended: .*memory/);
    expect(log).toHaveLength(2);
    expect(isPublished).toBe(false);
  }, 120_000);
});

interface Told {
  readonly said: string;
  readonly log: readonly string[];
  readonly isPublished: boolean;
}

/** In a process of its own: a thread that runs out of memory may take its process with it, and then there is nothing to see. */
async function withDyingThreads(): Promise<Told> {
  const script = new URL("dying-slices.ts", import.meta.url).pathname;
  for (;;) {
    const { signal, stdout } = spawnSync(process.execPath, [script, where], { encoding: "utf8" });
    if (signal !== "SIGABRT") return JSON.parse(stdout);
  }
}
