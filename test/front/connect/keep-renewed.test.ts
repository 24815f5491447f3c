import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keepRenewed } from "../../../lib/front/connect/keep-renewed.ts";

const hourMs = 3_600_000;

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 2) }));
afterEach(() => void vi.useRealTimers());

/** A value that is good for twelve hours from its reading. */
async function kept() {
  let reads = 0;
  const applied: number[] = [];
  const read = async () => {
    reads += 1;
    return { value: reads, againMs: 12 * hourMs };
  };
  const renewed = await keepRenewed(read, { retryMs: 10_000, onError: (cause) => expect.unreachable(String(cause)) });
  renewed.follow((value) => applied.push(value));
  return { applied, close: renewed.close };
}

/** Lets time pass, and sets the wall clock aside from it. */
async function pass(ms: number, aside = 0) {
  vi.setSystemTime(Date.now() + aside);
  await vi.advanceTimersByTimeAsync(ms);
}

describe("a value that is kept new", () => {
  it("is read again when it is time, and not before", async () => {
    const { applied, close } = await kept();
    await pass(12 * hourMs - 1_000);
    expect(applied).toEqual([]);
    await pass(1_000);
    expect(applied).toEqual([2]);
    await pass(12 * hourMs);
    expect(applied).toEqual([2, 3]);
    close();
    await pass(24 * hourMs);
    expect(applied).toEqual([2, 3]);
  });

  it.each([
    ["set back: a certificate of before would be one for later", -24 * hourMs],
    ["set forward, or the machine was suspended: it would be over", 24 * hourMs],
  ])("is read within a minute where the clock was %s", async (_what, aside) => {
    const { applied, close } = await kept();
    await pass(hourMs);
    await pass(60_000, aside);
    expect(applied).toEqual([2]);
    await pass(12 * hourMs - 1_000);
    expect(applied).toEqual([2]);
    close();
  });
});
