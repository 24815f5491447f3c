import { describe, expect, it } from "vitest";
import { beginRevision, CacheEntries } from "../../lib/incremental/cache-entries.ts";
import { createMemo } from "../../lib/incremental/memo.ts";

describe("slots of a kind", () => {
  it("are told apart by their names, written or worked out", () => {
    const kept = new CacheEntries<string>("test: told apart");
    const memo = createMemo();
    kept.keep(memo, "a", "1");
    expect(kept.last(memo, () => "b")).toBeUndefined();
    kept.keep(memo, () => "b", "2");
    kept.keep(memo, () => "a", "3");
    expect([kept.last(memo, "a"), kept.last(memo, () => "b"), kept.last(memo, "c")]).toEqual(["3", "2", undefined]);
    expect(new CacheEntries<string>("test: another kind").last(memo, "a")).toBeUndefined();
  });

  it("ask nobody for a name as long as there is one", () => {
    let asked = 0;
    const name = (): string => {
      asked += 1;
      return "a";
    };
    const kept = new CacheEntries<string>("test: one");
    const memo = createMemo();
    kept.keep(memo, name, "1");
    expect(kept.last(memo, name)).toBe("1");
    kept.keep(memo, name, "2");
    expect(asked).toBe(0);
    kept.keep(memo, "b", "3");
    expect([kept.last(memo, "a"), kept.last(memo, name), kept.last(memo, "b")]).toEqual(["2", "2", "3"]);
  });

  it("are forgotten when nobody asked for them in many rounds, the one as one of many", () => {
    for (const names of [["a"], ["a", "b", "kept"]]) {
      const kept = new CacheEntries<string>(`test: forgotten of ${names.length}`);
      const memo = createMemo();
      for (const name of names) kept.keep(memo, name, name);
      for (let round = 0; round < 200; round += 1) {
        beginRevision(memo);
        kept.last(memo, "kept");
      }
      expect(names.filter((name) => kept.last(memo, name) !== undefined)).toEqual(names.filter((of) => of === "kept"));
    }
  });
});
