import { describe, expect, it } from "vitest";
import { blobKey } from "../../../lib/base/blob.ts";
import { compilerVersion } from "../../../lib/compile/compile.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { fileKey } from "../../../lib/compile/shards/source-shard.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { createSliceCompiler } from "../../../lib/compile/slices/compile-slice.ts";
import type { FanOut } from "../../../lib/compile/slices/fan-out.ts";
import { planId, readSliceJob, type SliceJob } from "../../../lib/compile/slices/plan.ts";
import { readRecord, slicesPrefix } from "../../../lib/compile/slices/records.ts";
import { createLeasedCompiler } from "../../../lib/compile/triggers/leased-compiler.ts";
import { readRecordedSettings } from "../../../lib/compile/world/recorded-settings.ts";
import { sha256 } from "../../../lib/config/canonical-json.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { weightedShop } from "../../integration/weighted-shop.ts";
import { fragileStore } from "../fragile-store.ts";

const most = 3;

/** A fan-out of three slices, whose jobs somebody takes. */
const handingTo = (dispatch: FanOut["dispatch"], more: Partial<FanOut> = {}): FanOut => ({
  dispatch,
  most,
  sliceBytes: 1,
  waitMs: 5_000,
  pollMs: 5,
  ...more,
});

/** Takes messages as a queue does: who sends one is not told what comes of it, and one that fails comes again. */
function queueFor(store: ObjectStore, tries = 5) {
  const compile = createSliceCompiler(store);
  const taken: number[] = [];
  return {
    taken,
    async dispatch(job: SliceJob) {
      void (async () => {
        for (let count = 0; count < tries; count += 1) {
          taken.push(job.index);
          const isDone = await compile(job).then(
            () => true,
            () => false,
          );
          if (isDone) return;
        }
      })();
    },
  };
}

async function shopStore(weight = 10) {
  const store = memoryStore();
  await writeShard(store, "main", await weightedShop(weight));
  const whole = memoryStore();
  await writeShard(whole, "main", await weightedShop(weight));
  const { version } = await createRecompiler({ store: whole })();
  return { store, version };
}

const headOf = async (store: ObjectStore) => (await readHead(store))?.head;

describe("a compile that is fanned out", () => {
  it("publishes the root that a compile as a whole does, over messages that nobody answers", async () => {
    const { store, version } = await shopStore();
    const queue = queueFor(store);
    const told = await createLeasedCompiler({ store, fanOut: handingTo(queue.dispatch), pace: { quietMs: 0 } })();
    expect(told).toMatchObject({ kind: "published", version });
    expect(queue.taken.toSorted()).toEqual([0, 1, 2]);
  });

  it("writes nothing that is there already: what slices have written stays as they wrote it", async () => {
    const { store } = await shopStore();
    const queue = queueFor(store);
    await createRecompiler({ store, fanOut: handingTo(queue.dispatch) })();
    await writeShard(store, "main", await weightedShop(11));
    const puts: string[] = [];
    const watched: ObjectStore = {
      ...store,
      put(key, bytes, condition) {
        puts.push(key);
        return store.put(key, bytes, condition);
      },
    };
    await createRecompiler({ store: watched, fanOut: handingTo(queue.dispatch) })();
    const blobs = puts.filter((key) => key.startsWith("blobs/"));
    // Tables, classes, roots of the steps: what belongs to no slice.
    expect(blobs.length).toBeLessThan(40);
    expect(new Set(blobs).size).toBe(blobs.length);
  });

  it("compiles a small world where it is", async () => {
    const { store, version } = await shopStore();
    const { sliceBytes: _usual, ...fanOut } = handingTo(() => Promise.reject(new Error("nobody is there")));
    expect(await createRecompiler({ store, fanOut })()).toMatchObject({ kind: "published", version });
  });

  it("compiles the first slice itself where that is wished for", async () => {
    const { store, version } = await shopStore();
    const queue = queueFor(store);
    const recompile = createRecompiler({ store, fanOut: handingTo(queue.dispatch, { compilesToo: true }) });
    expect(await recompile()).toMatchObject({ kind: "published", version });
    expect(queue.taken.toSorted()).toEqual([1, 2]);
    await writeShard(store, "main", await weightedShop(11));
    expect(await recompile()).toMatchObject({ version: (await shopStore(11)).version });
  });

  it("goes on where the one before has died", async () => {
    const { store, version } = await shopStore();
    const queue = queueFor(store);
    const dying = handingTo((job) => (job.index === 1 ? queue.dispatch(job) : Promise.resolve()), { waitMs: 300 });
    await expect(createRecompiler({ store, fanOut: dying })()).rejects.toThrow(
      "of 3 slices 2 (1, 3) were not compiled within 0 s: no reason is known",
    );
    expect(await headOf(store)).toBeUndefined();
    const next = createRecompiler({ store, fanOut: handingTo(queue.dispatch) });
    expect(await next()).toMatchObject({ kind: "published", version });
    expect(queue.taken.toSorted()).toEqual([0, 1, 2]);
  });

  it("is not harmed by a slice that comes late, or again", async () => {
    const { store } = await shopStore();
    const jobs: SliceJob[] = [];
    const queue = queueFor(store);
    const fanOut = handingTo((job) => {
      jobs.push(job);
      return queue.dispatch(job);
    });
    await createRecompiler({ store, fanOut })();
    const head = await headOf(store);
    const [job] = jobs;
    if (job === undefined) throw new Error("nothing was handed out");
    const record = await readRecord(store, planId(job.plan), job.index);
    const late = createSliceCompiler(store);
    expect(await late(job)).toEqual(record);
    for await (const { key } of store.list(slicesPrefix)) await store.delete(key);
    // The source has moved on: the plan still says what it was.
    await writeShard(store, "main", await weightedShop(11));
    expect(await createSliceCompiler(store)(job)).toEqual(record);
    expect(await headOf(store)).toEqual(head);
  });

  it("leads to one root when two hand out slices at once", async () => {
    const { store, version } = await shopStore();
    const queue = queueFor(store);
    const both = [0, 1].map(() => createRecompiler({ store, fanOut: handingTo(queue.dispatch) })());
    const told = await Promise.all(both);
    expect(told.map((one) => one.kind).sort()).toEqual(["published", "unchanged"]);
    expect(told.map((one) => one.version)).toEqual([version, version]);
    expect((await headOf(store))?.generation).toBe(1);
  });

  it("compiles a slice anew whose root is gone, and says so", async () => {
    const { store, version } = await shopStore();
    const jobs: SliceJob[] = [];
    const queue = queueFor(store);
    const log: string[] = [];
    const dispatch = (job: SliceJob) => {
      jobs.push(job);
      return queue.dispatch(job);
    };
    const fanOut = handingTo(dispatch, { onTrouble: (reason) => log.push(reason) });
    await createRecompiler({ store, fanOut })();
    const [job] = jobs;
    if (job === undefined) throw new Error("nothing was handed out");
    const { root = "" } = (await readRecord(store, planId(job.plan), 0)) ?? {};
    await store.delete(blobKey(root));
    expect(await createRecompiler({ store, fanOut })()).toMatchObject({ kind: "unchanged", version });
    expect(log).toEqual([`slice 1 of 3 cannot be read: the store has no blob ${root}`]);
    expect(jobs).toHaveLength(4);
  });

  it("compiles all slices anew whose roots were collected, where the sources say again what they said before", async () => {
    const { store, version } = await shopStore();
    const jobs: SliceJob[] = [];
    /** By a process that has made none of them before. */
    const compile = () => {
      const queue = queueFor(store);
      const dispatch = (job: SliceJob) => {
        jobs.push(job);
        return queue.dispatch(job);
      };
      return createRecompiler({ store, fanOut: handingTo(dispatch) })();
    };
    await compile();
    for (const { plan, index } of [...jobs]) {
      const { root = "" } = (await readRecord(store, planId(plan), index)) ?? {};
      await store.delete(blobKey(root));
    }
    expect(await compile()).toMatchObject({ kind: "unchanged", version });
    expect(jobs.map(({ index }) => index)).toEqual([0, 1, 2, 0, 1, 2]);
  });

  it("leaves HEAD untouched when a slice cannot be compiled, says why in log and answer, and the next trigger mends it", async () => {
    const { store } = await shopStore();
    const queue = queueFor(store);
    const log: string[] = [];
    let lostKey: string | undefined;
    // Lost once the plan is made: before, the source's last published version would be compiled in its place.
    const losing: FanOut["dispatch"] = async (job) => {
      if (lostKey !== undefined) await store.delete(lostKey);
      return queue.dispatch(job);
    };
    const fanOut = handingTo(losing, { onTrouble: (reason) => log.push(reason) });
    const recompile = createLeasedCompiler({ store, fanOut, pace: { quietMs: 0 } });
    await recompile();
    const head = await headOf(store);
    const files = await weightedShop(12);
    await writeShard(store, "main", files);
    const [lost] = files.filter(({ text }) => text.includes("weight: 12"));
    const key = fileKey("main", sha256(lost?.text ?? ""));
    lostKey = key;
    const reason = `source main lacks the content of ${lost?.file}; fill it again`;
    await expect(recompile()).rejects.toThrow(reason);
    expect(log.some((line) => line.includes(reason))).toBe(true);
    expect(await headOf(store)).toEqual(head);
    lostKey = undefined;
    await store.put(key, new TextEncoder().encode(lost?.text ?? ""));
    expect(await recompile()).toMatchObject({ kind: "published", version: (await shopStore(12)).version });
  });

  it("leaves HEAD untouched when the store fails between two writes, of a slice or of who joins them, and the next trigger mends it", async () => {
    const { store: sound } = await shopStore();
    const fragile = fragileStore(sound);
    const { store } = fragile;
    const compilers = [0, 1, 2].map(() => createSliceCompiler(store));
    const dispatch = async (job: SliceJob) => {
      await compilers[job.index]?.(job);
    };
    const recompile = createRecompiler({ store, fanOut: handingTo(dispatch) });
    await recompile();
    await writeShard(sound, "main", await weightedShop(20));
    const writes = await fragile.writes(recompile);
    expect(writes).toBeGreaterThan(12);
    for (let after = 0; after < writes - 2; after += 1) {
      await writeShard(sound, "main", await weightedShop(30 + after));
      const before = await headOf(sound);
      fragile.break(after);
      const failed = await recompile().then(
        () => "",
        (cause: unknown) => String(cause),
      );
      fragile.mend();
      const now = await headOf(sound);
      if (failed !== "") {
        expect(failed).toContain("the store took no more at");
        expect(now).toEqual(before);
        expect(await recompile()).toMatchObject({ kind: "published", generation: (before?.generation ?? 0) + 1 });
      } else expect(now?.generation).toBe((before?.generation ?? 0) + 1);
    }
  }, 60_000);

  it("reads a source whose version nobody keeps by itself, as long as it is the present one", async () => {
    const { store, version } = await shopStore();
    for await (const { key } of store.list("sources/main/versions/")) await store.delete(key);
    const { dispatch } = queueFor(store);
    expect(await createRecompiler({ store, fanOut: handingTo(dispatch) })()).toMatchObject({ version });
  });

  it("says which source is rubbish before anything is handed out", async () => {
    const { store } = await shopStore();
    await store.put("sources/main/list", new TextEncoder().encode("rubbish"));
    const recompile = createRecompiler({ store, fanOut: handingTo(() => Promise.reject(new Error("handed out"))) });
    await expect(recompile()).rejects.toThrow("source main is no list of files");
  });

  it("refuses a plan of another compiler", async () => {
    const { store } = await shopStore();
    const plan = { compiler: "portolan 0.0.0", sources: [], settings: readRecordedSettings({}), of: 2 };
    await expect(createSliceCompiler(store)({ plan, index: 0 })).rejects.toThrow(
      `slice 1 of 2: the plan is one of portolan 0.0.0, and this is ${compilerVersion}`,
    );
  });

  it("refuses a plan of another build, and takes nothing that another one has made of the same sources", async () => {
    const { store } = await shopStore();
    const compile = createSliceCompiler(store, { build: "this one" });
    const fanOut = handingTo(async (job) => {
      await compile(job);
    });
    await createRecompiler({ store, fanOut, build: "this one" })();
    await expect(createRecompiler({ store, fanOut, build: "another one" })()).rejects.toThrow(
      `slice 1 of 3: the plan is one of another build of ${compilerVersion}`,
    );
  });

  it("does not say how a world was made where one of its slices is by nobody knows whom", async () => {
    const { store, version } = await shopStore();
    const compilers = ["this one", undefined, "this one"].map((build) => createSliceCompiler(store, { build }));
    const fanOut = handingTo(async (job) => {
      await compilers[job.index]?.(job);
    });
    expect(await createRecompiler({ store, fanOut, build: "this one" })()).toMatchObject({ version });
  });
});

describe("a message", () => {
  const version = "0".repeat(64);
  const plan = { compiler: "c", sources: [{ name: "main", version }], settings: readRecordedSettings({}), of: 2 };

  it("is read as the job that was sent", () => {
    for (const job of [
      { plan, index: 1 },
      { plan: { ...plan, build: "b" }, index: 0 },
    ])
      expect(readSliceJob(JSON.parse(JSON.stringify(job)))).toEqual(job);
  });

  it.each([
    ["nothing", undefined],
    ["a text", "slice"],
    ["an event of a store's", { object: { key: "sources/main/list" } }],
    ["a slice beyond the last", { plan, index: 2 }],
    ["a slice before the first", { plan, index: -1 }],
    ["more slices than anybody plans", { plan: { ...plan, of: 100_000 }, index: 0 }],
    ["a version that is a path", { plan: { ...plan, sources: [{ name: "main", version: "../HEAD" }] }, index: 0 }],
  ])("that is %s is no job", (_what, message) => {
    expect(readSliceJob(message)).toBeUndefined();
  });
});
