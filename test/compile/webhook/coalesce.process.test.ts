import { describe, expect, it } from "vitest";
import { coalesce } from "../../../lib/compile/webhook/coalesce.ts";

/** A job whose runs end when told to. */
function manualJob() {
  const ends: (() => void)[] = [];
  let started = 0;
  const run = () => {
    started += 1;
    const number = started;
    return new Promise<number>((resolve) => ends.push(() => resolve(number)));
  };
  const tick = () => new Promise((resolve) => setTimeout(resolve, 0));
  const end = async () => {
    ends.shift()?.();
    await tick();
  };
  return { run, end, started: () => started };
}

describe("coalesce", () => {
  it("makes one run and one more of a burst", async () => {
    const { run, end, started } = manualJob();
    const ask = coalesce(run);
    const results = Array.from({ length: 20 }, () => ask());
    expect(started()).toBe(1);
    await end();
    expect(started()).toBe(2);
    await end();
    expect(await Promise.all(results)).toEqual([1, ...Array.from({ length: 19 }, () => 2)]);
    expect(started()).toBe(2);
  });

  it("starts at once again when nothing is under way", async () => {
    const { run, end, started } = manualJob();
    const ask = coalesce(run);
    void ask();
    await end();
    void ask();
    expect(started()).toBe(2);
  });

  it("goes on after a failure, which only those hear who asked for that run", async () => {
    let runs = 0;
    const ask = coalesce(async () => {
      runs += 1;
      if (runs === 1) throw new Error("first");
      return runs;
    });
    const [first, second] = [ask(), ask()];
    await expect(first).rejects.toThrow("first");
    expect(await second).toBe(2);
  });
});
