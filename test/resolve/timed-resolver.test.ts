import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { nothingResolved, type Resolution } from "../../lib/resolve/resolver.ts";
import { timedResolver } from "../../lib/resolve/timed-resolver.ts";

const quiet = { info() {}, warn() {}, error() {} };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A resolver whose next look-up is due in so many milliseconds, each time. */
function timed(nextInMs: number | undefined, more: Partial<Resolution> = {}) {
  let runs = 0;
  const changes: string[] = [];
  const { resolve, close } = timedResolver(
    async () => {
      runs += 1;
      return { ...nothingResolved, ...more, nextInMs };
    },
    { leastMs: 10_000, othersMs: 60_000, onChanged: (why) => changes.push(why), log: quiet },
  );
  return { resolve, close, runs: () => runs, changes, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
}

describe("a timed resolver", () => {
  it("runs again when the next look-up is due, until it is closed", async () => {
    const { resolve, close, runs, pass } = timed(20_000);
    await pass(100_000);
    expect(runs()).toBe(0);
    await resolve();
    await pass(19_999);
    expect(runs()).toBe(1);
    await pass(1);
    expect(runs()).toBe(2);
    await pass(40_000);
    expect(runs()).toBe(4);
    close();
    await pass(100_000);
    expect(runs()).toBe(4);
  });

  it("runs no more often than it may, and leaves to others what is due later, or nothing", async () => {
    for (const [nextInMs, runsInMinute] of [
      [0, 7],
      [-5_000, 7],
      [60_000, 1],
      [undefined, 1],
    ] as const) {
      const { resolve, runs, pass, close } = timed(nextInMs);
      await resolve();
      await pass(60_000);
      expect(runs()).toBe(runsInMinute);
      close();
    }
  });

  it("has compiled what it found by itself, and not what others asked it for", async () => {
    const { resolve, changes, pass, close } = timed(10_000, { hasChanged: true });
    await resolve();
    expect(changes).toEqual([]);
    await pass(10_000);
    expect(changes).toHaveLength(1);
    close();
  });

  it("is asked by others while it waits, and waits anew", async () => {
    const { resolve, runs, pass, close } = timed(20_000);
    await resolve();
    await pass(15_000);
    await resolve();
    await pass(15_000);
    expect(runs()).toBe(2);
    close();
  });
});
