import { describe, expect, it } from "vitest";
import {
  changedMap,
  changedSet,
  entriesIn,
  type NameMap,
  nameSet,
  namesIn,
  noNames,
  valueOf,
} from "../../../lib/streams/name-map.ts";

/** Numbers below `limit` that look like chance and are the same each time. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Entries of a map that an earlier one does not share with it: those that were copied to make it. */
const copiedSince = (before: NameMap<unknown>, after: NameMap<unknown>): number =>
  after.chunks.filter((chunk) => !before.chunks.includes(chunk)).reduce((sum, { names }) => sum + names.length, 0);

const entriesHeld = ({ chunks }: NameMap<unknown>): number => chunks.reduce((sum, { names }) => sum + names.length, 0);

describe("a map of names", () => {
  it.each([1, 2, 3])("has what a Map has after the same changes (seed %i)", (seed) => {
    const pick = numbers(seed);
    const expected = new Map<string, number>();
    let map: NameMap<number> = noNames;
    for (let change = 0; change < 2_000; change += 1) {
      const set = Array.from({ length: pick(4) }, () => [`n${pick(300)}`, pick(1_000)] as const);
      const removed = Array.from({ length: pick(4) }, () => `n${pick(300)}`);
      const before = [...entriesIn(map)];
      const old = map;
      map = changedMap(map, set, removed);
      for (const name of removed) expected.delete(name);
      for (const [name, value] of set) expected.set(name, value);
      expect(map.size).toBe(expected.size);
      expect(map.characters).toBe([...expected.keys()].join("").length);
      if (change % 100 > 0) continue;
      expect([...entriesIn(map)]).toEqual([...expected].toSorted(([a], [b]) => (a < b ? -1 : 1)));
      for (let name = 0; name < 300; name += 1) expect(valueOf(map, `n${name}`)).toBe(expected.get(`n${name}`));
      expect([...entriesIn(old)]).toEqual(before);
    }
  });

  it("copies a logarithmic number of entries for each name that is added alone, and searches few chunks", () => {
    const many = 20_000;
    let set = nameSet(Array.from({ length: many }, (_, i) => `name-${i}`));
    let copied = 0;
    for (let i = 0; i < many; i += 1) {
      const next = changedSet(set, [`other-${(i * 7_919) % many}`]);
      copied += copiedSince(set, next);
      set = next;
    }
    expect(set.size).toBe(2 * many);
    expect(copied / many).toBeLessThan(2 * Math.log2(many));
    expect(set.chunks.length).toBeLessThanOrEqual(Math.log2(many) + 2);
  });

  it("does so where names are added and removed again, and holds no more than twice what it has", () => {
    let set = nameSet(Array.from({ length: 10_000 }, (_, i) => `name-${i}`));
    let copied = 0;
    for (let i = 0; i < 10_000; i += 1) {
      const next = i % 2 === 0 ? changedSet(set, ["more"]) : changedSet(set, [], ["more"]);
      copied += copiedSince(set, next);
      set = next;
    }
    expect(copied / 10_000).toBeLessThan(40);
    const few = changedSet(set, [], namesIn(set).slice(10));
    expect(few.size).toBe(10);
    expect(entriesHeld(few)).toBeLessThanOrEqual(2 * few.size + 64);
  });

  it("is the same map where a change changes nothing", () => {
    const set = nameSet(["a"]);
    expect(changedSet(set, [], ["b"])).toBe(set);
    expect(changedMap(set, [])).toBe(set);
  });
});
