import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { createSliceCompiler } from "../../../lib/compile/slices/compile-slice.ts";
import type { FanOut } from "../../../lib/compile/slices/fan-out.ts";
import type { SliceJob } from "../../../lib/compile/slices/plan.ts";
import { createLeasedCompiler } from "../../../lib/compile/triggers/leased-compiler.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { weightedShop } from "../../integration/weighted-shop.ts";

const hourMs = 3_600_000;
/** Slices below take three times as long as a lease holds. */
const leaseMs = 300;

/** A store with a clock of its own, which processes share whose clocks are wrong, and the queue that takes their slices. */
async function place() {
  const store = memoryStore(Date.now);
  await writeShard(store, "main", await weightedShop(10));
  const compile = createSliceCompiler(store);
  const taken: number[] = [];
  const takenOver: string[] = [];
  const slowly = async (job: SliceJob) => {
    taken.push(job.index);
    await sleep(3 * leaseMs);
    await compile(job);
  };
  const process = (now: () => number, dispatch: FanOut["dispatch"] = slowly, holds = leaseMs) =>
    createLeasedCompiler({
      store,
      now,
      fanOut: { dispatch, most: 3, sliceBytes: 1, waitMs: 20_000, pollMs: 5 },
      pace: { quietMs: 0, leaseMs: holds, pollMs: 10 },
      onTakenOver: ({ holder }) => takenOver.push(holder),
    });
  return { store, compile, taken, takenOver, process };
}

async function versionAlone(): Promise<string> {
  const store = memoryStore();
  await writeShard(store, "main", await weightedShop(10));
  return (await createRecompiler({ store })()).version;
}

describe("clocks that are wrong", () => {
  it.each([
    ["ahead", "behind", hourMs],
    ["behind", "ahead", -hourMs],
  ])(
    "take no slices away from a holder whose clock is %s, by one whose clock is %s",
    async (_holder, _other, offMs) => {
      const { store, taken, takenOver, process } = await place();
      const first = process(() => Date.now() + offMs)();
      while (taken.length < 3) await sleep(5);
      const second = process(() => Date.now() - offMs)();
      const version = await versionAlone();
      expect(await first).toMatchObject({ kind: "published", version });
      expect(await second).toMatchObject({ kind: "unchanged", version });
      expect(takenOver).toEqual([]);
      // What the second found done was not compiled again.
      expect(taken.toSorted()).toEqual([0, 1, 2]);
      expect((await readHead(store))?.head.generation).toBe(1);
    },
  );

  it.each([
    ["ahead", hourMs],
    ["behind", -hourMs],
  ])(
    "do not keep one that is %s from taking over from a holder that died while its slices were compiled",
    async (_how, offMs) => {
      const { compile, taken, takenOver, process } = await place();
      const handedOut: number[] = [];
      // Of one that is dead nothing is renewed; one of its slices was still done.
      const dead = process(
        Date.now,
        async (job) => {
          if (job.index === 1) await compile(job);
          handedOut.push(job.index);
          await new Promise(() => {});
        },
        1e9,
      );
      dead().catch(() => {});
      while (handedOut.length < 3) await sleep(5);
      const told = await process(() => Date.now() + offMs)();
      expect(told).toMatchObject({ kind: "published", version: await versionAlone() });
      expect(takenOver).toHaveLength(1);
      expect(taken.toSorted()).toEqual([0, 2]);
    },
  );

  it("give up no slice when the time of day jumps while it is waited for", async () => {
    const { taken, takenOver, process } = await place();
    const told = process(() => Date.now() + (taken.length > 0 ? 24 * hourMs : 0))();
    expect(await told).toMatchObject({ kind: "published", version: await versionAlone() });
    expect(takenOver).toEqual([]);
  });
});
