import { describe, expect, it } from "vitest";
import { PortolanError } from "../../../lib/base/diagnostic.ts";
import { createHeads } from "../../../lib/front/heads/heads.ts";
import { createReadPauses } from "../../../lib/front/heads/read-pauses.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";

const mesh = (service: string) => worldOf({ web: { clusters: { [service]: "1" } } });

/** A store that answers `SlowDown` to reads of HEAD as long as it throttles, as S3 does, and counts them. It has no watch. */
function throttlingStore() {
  const { watch: _watch, time: _time, ...whole } = memoryStore();
  const state = { throttles: false, reads: 0 };
  const store: ObjectStore = {
    ...whole,
    async get(key, condition) {
      if (key !== "HEAD") return whole.get(key, condition);
      state.reads += 1;
      if (state.throttles) throw new PortolanError("S3 bucket b: SlowDown: Please reduce your request rate.");
      return whole.get(key, condition);
    },
  };
  const publisher = createPublisher(whole, { pace: { settleMs: 0, retentionMs: 0 } });
  const publish = async (service: string) => {
    await publisher.publish(mesh(service), await publisher.head());
  };
  return { store, state, publish };
}

/** HEAD's reader over such a store, with a clock of the test's. Pauses are as long as they can be. */
function reader() {
  const { store, state, publish } = throttlingStore();
  let nowMs = 0;
  const errors: unknown[] = [];
  const heads = createHeads(store, {
    ttlMs: 1_000,
    now: () => nowMs,
    onError: (cause) => errors.push(cause),
    random: () => 1,
  });
  return {
    heads,
    state,
    publish,
    errors,
    /** Lets time pass a second at a time, with a poll each. @returns at which seconds HEAD was read */
    async reads(seconds: number): Promise<readonly number[]> {
      const at: number[] = [];
      for (let second = 1; second <= seconds; second += 1) {
        nowMs += 1_000;
        const before = state.reads;
        await heads.current();
        if (state.reads > before) at.push(second);
      }
      return at;
    },
  };
}

describe("a store that throttles", () => {
  it("is asked for HEAD after pauses that double to 30 s, and then halve again, while the last HEAD is served", async () => {
    const { heads, state, publish, errors, reads } = reader();
    await publish("a");
    expect((await heads.current())?.generation).toBe(1);
    expect(await reads(3)).toEqual([1, 2, 3]);
    state.throttles = true;
    await publish("b");
    expect(await reads(100)).toEqual([1, 2, 4, 8, 16, 32, 62, 92]);
    expect(errors).toHaveLength(8);
    expect((await heads.current())?.generation).toBe(1);
    expect(await heads.health()).toMatchObject({ warnings: [expect.stringContaining("the store cannot be read")] });
    state.throttles = false;
    // The pause of 30 s began 8 s ago; each read that succeeds halves it.
    expect(await reads(60)).toEqual([22, 37, 45, 49, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60]);
    expect((await heads.current())?.generation).toBe(2);
    expect(await heads.health()).toEqual({ warnings: [] });
    heads.close();
  });

  it("costs polls one read in a pause, however many come", async () => {
    const { store, state, publish } = throttlingStore();
    let nowMs = Date.UTC(2026, 0, 1);
    const test = testFront({ store, now: () => nowMs, headTtlMs: 1_000 });
    await publish("a");
    const poll = async () => {
      const response = await test.poll("clusters", pollBody("clusters", nodeOf("web")));
      return [response.status, /"name":"(\w+)"/.exec(await response.text())?.[1]];
    };
    expect(await poll()).toEqual([200, "a"]);
    state.throttles = true;
    nowMs += 1_000;
    const before = state.reads;
    for (let i = 0; i < 100; i += 1) expect(await poll()).toEqual([200, "a"]);
    expect(state.reads - before).toBe(1);
  });

  it("is no reason to say that nothing was published, where HEAD was never read", async () => {
    const { store, state, publish } = throttlingStore();
    await publish("a");
    state.throttles = true;
    let nowMs = Date.UTC(2026, 0, 1);
    const test = testFront({ store, now: () => nowMs, headTtlMs: 1_000, onError: () => {} });
    const poll = () => test.poll("clusters", pollBody("clusters", nodeOf("web")));
    for (let i = 0; i < 30; i += 1) {
      const response = await poll();
      expect([response.status, await response.text()]).toEqual([503, expect.stringContaining("cannot be read")]);
    }
    // However many ask, and they need not prove who they are.
    expect(state.reads).toBe(1);
    state.throttles = false;
    nowMs += 1_000;
    expect((await poll()).status).toBe(200);
  });
});

describe("createReadPauses", () => {
  it("gives reads an eighth of a pause, and all the time there is again after some that succeeded", () => {
    const pauses = createReadPauses(1_000, () => 0.999_999);
    const patience = (change: () => void) => {
      change();
      return pauses.patienceMs();
    };
    expect(pauses.patienceMs()).toBe(undefined);
    expect([1, 2, 3, 4, 5, 6].map(() => patience(pauses.failed))).toEqual([200, 250, 500, 1_000, 2_000, 2_000]);
    const recovering = [1_875, 937.5, 468.75, 234.375, 200, 200, 200];
    expect(recovering.map(() => patience(pauses.succeeded))).toEqual(recovering);
    expect(pauses.currentMs()).toBe(1_000);
    expect(patience(pauses.succeeded)).toBe(undefined);
  });

  it("chooses between a half and the whole of a pause, and never less than usual", () => {
    for (const [random, pauses] of [
      [0, [1_000, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]],
      [0.999_999, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]],
    ] as const) {
      const made = createReadPauses(1_000, () => random);
      const chosen = pauses.map(() => {
        made.failed();
        return Math.round(made.currentMs());
      });
      expect(chosen).toEqual(pauses);
    }
  });
});
