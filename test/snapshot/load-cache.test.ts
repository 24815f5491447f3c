import { describe, expect, it } from "vitest";
import { createLoadCache } from "../../lib/snapshot/worlds/load-cache.ts";

/** A cache of numbers by name; each value weighs itself. */
function numbers(load: (key: string) => Promise<number>, maxBytes = 10, keepsLatest = false) {
  const loads: string[] = [];
  const cache = createLoadCache<string, number>({
    nameOf: (key) => key,
    maxBytes,
    load: (key) => {
      loads.push(key);
      return load(key);
    },
    sizeOf: (value) => value,
    patienceMs: 20,
    keepsLatest,
  });
  return { cache, loads };
}

describe("createLoadCache", () => {
  it("loads once what several ask for at a time, and keeps it", async () => {
    const { cache, loads } = numbers(async () => 1);
    expect(await Promise.all([cache.get("a"), cache.get("a")])).toEqual([1, 1]);
    await cache.get("a");
    expect(loads).toEqual(["a"]);
  });

  it("forgets what was asked for longest ago when it grows too large", async () => {
    const { cache, loads } = numbers(async () => 4);
    for (const key of ["a", "b", "a", "c", "a", "b"]) await cache.get(key);
    expect(loads).toEqual(["a", "b", "c", "b"]);
  });

  it("keeps what was asked for last, where it is told to, although that is larger than all that may be kept", async () => {
    const { cache, loads } = numbers(async () => 40, 10, true);
    for (const key of ["a", "a", "b", "b", "a"]) await cache.get(key);
    expect(loads).toEqual(["a", "b", "a"]);
  });

  it("tries again after a failure", async () => {
    let fails = true;
    const { cache } = numbers(async () => {
      if (fails) throw new Error("down");
      return 1;
    });
    await expect(cache.get("a")).rejects.toThrow("down");
    fails = false;
    expect(await cache.get("a")).toBe(1);
  });

  it("does not wait for ever for a load that somebody else has abandoned", async () => {
    let abandoned = true;
    const { cache } = numbers(() => (abandoned ? new Promise(() => {}) : Promise.resolve(1)));
    void cache.get("a");
    abandoned = false;
    expect(await cache.get("a")).toBe(1);
    expect(await cache.get("a")).toBe(1);
  });
});
