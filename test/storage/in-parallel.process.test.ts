import { describe, expect, it } from "vitest";
import { inParallel } from "../../lib/storage/in-parallel.ts";

/** Counts up to a limit, and says how far it has come. */
function counting(limit: number) {
  const counted = {
    asked: 0,
    *[Symbol.iterator]() {
      while (counted.asked < limit) yield counted.asked++;
    },
  };
  return counted;
}

describe("what is done to many things in parallel", () => {
  it("gives results in the order of the things, whichever is done first", async () => {
    const late = (n: number) => new Promise<number>((resolve) => setTimeout(() => resolve(2 * n), n % 3));
    expect(await inParallel(counting(100), late)).toEqual(Array.from({ length: 100 }, (_, n) => 2 * n));
  });

  it("asks for a thing when its turn has come", async () => {
    const things = counting(1_000);
    let done = 0;
    await inParallel(things, async () => {
      await Promise.resolve();
      done += 1;
      expect(things.asked - done).toBeLessThan(48);
    });
    expect(done).toBe(1_000);
  });

  it("begins none after one has failed", async () => {
    const things = counting(1_000);
    await expect(
      inParallel(things, async (n) => {
        if (n === 10) throw new Error("the tenth");
        await new Promise((resolve) => setTimeout(resolve, 1));
      }),
    ).rejects.toThrow("the tenth");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(things.asked).toBeLessThan(100);
  });
});
