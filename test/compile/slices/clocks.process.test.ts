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
import { manualClock } from "../manual-clock.ts";

const hourMs = 3_600_000;
/** Slices below take three times as long as a lease holds. */
const leaseMs = 60_000;
const startMs = Date.UTC(2026, 0, 1);

/** A store with a clock of its own, which processes share whose clocks are wrong, and the queue that takes their slices. */
async function place() {
  const clock = manualClock();
  /** What shows the right time. */
  const right = () => startMs + clock.now();
  const store = memoryStore(right);
  await writeShard(store, "main", await weightedShop(10));
  const compile = createSliceCompiler(store);
  const taken: number[] = [];
  const takenOver: string[] = [];
  const slowly = async (job: SliceJob) => {
    taken.push(job.index);
    await clock.pause(3 * leaseMs);
    await compile(job);
  };
  const process = (now: () => number, dispatch: FanOut["dispatch"] = slowly, holds = leaseMs) =>
    createLeasedCompiler({
      store,
      now,
      clock,
      fanOut: { dispatch, most: 3, sliceBytes: 1, waitMs: 200_000, pollMs: 5, clock },
      pace: { quietMs: 0, leaseMs: holds },
      onTakenOver: ({ holder }) => takenOver.push(holder),
    });
  return { clock, right, store, compile, taken, takenOver, process };
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
      const { clock, right, store, taken, takenOver, process } = await place();
      const first = process(() => right() + offMs)();
      await clock.until(() => taken.length === 3);
      const second = process(() => right() - offMs)();
      const version = await versionAlone();
      expect(await clock.settled(first)).toMatchObject({ kind: "published", version });
      expect(await clock.settled(second)).toMatchObject({ kind: "unchanged", version });
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
      const { clock, right, compile, taken, takenOver, process } = await place();
      const handedOut: number[] = [];
      // Of one that is dead nothing is renewed; one of its slices was still done.
      const dead = process(
        right,
        async (job) => {
          if (job.index === 1) await compile(job);
          handedOut.push(job.index);
          await new Promise(() => {});
        },
        1e9,
      );
      dead().catch(() => {});
      await clock.until(() => handedOut.length === 3);
      const told = await clock.settled(process(() => right() + offMs)());
      expect(told).toMatchObject({ kind: "published", version: await versionAlone() });
      expect(takenOver).toHaveLength(1);
      expect(taken.toSorted()).toEqual([0, 2]);
    },
  );

  it.each([60_000, -60_000, 24 * hourMs])(
    "take no slices away when the time of day jumps by %s ms for all, the store too, while they are waited for",
    async (jumpMs) => {
      const { clock, taken, takenOver, process, store } = await place();
      let jumped = 0;
      const jumping = () => startMs + clock.now() + jumped;
      Object.assign(store, { time: async () => jumping() });
      const first = process(jumping)();
      await clock.until(() => taken.length === 3);
      jumped = jumpMs;
      const second = process(jumping)();
      expect(await clock.settled(first)).toMatchObject({ kind: "published", version: await versionAlone() });
      expect(await clock.settled(second)).toMatchObject({ kind: "unchanged" });
      expect(takenOver).toEqual([]);
      expect(taken.toSorted()).toEqual([0, 1, 2]);
    },
  );
});
