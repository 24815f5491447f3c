import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Blob } from "../../lib/base/blob.ts";
import { joinParts } from "../../lib/compile/encode/join-parts.ts";
import { createMemo, noMemo } from "../../lib/incremental/memo.ts";
import { type CompiledList, type CompiledPart, resourcesIn } from "../../lib/snapshot/compiled.ts";
import { createQuestions } from "../../lib/snapshot/head/list-questions.ts";
import { createColumns } from "../../lib/snapshot/worlds/columns.ts";
import { createDifferingLists } from "../../lib/snapshot/worlds/differing-lists.ts";
import { createTreeEncoder, type EncodedTree, versionOfTree } from "../../lib/snapshot/worlds/encode-tree.ts";
import { createUnion } from "../../lib/snapshot/worlds/unite-lists.ts";
import { resource } from "./worlds.ts";

const name = fc.oneof(
  fc.nat(400).map((number) => `outbound|${number}||x`),
  fc.nat(40).map((number) => `inbound|${number}||`),
  fc.constantFrom("BlackHoleCluster", "PassthroughCluster", "zz-added"),
);
const contents = fc.dictionary(name, fc.constantFrom("1", "2", "3".repeat(9_000)), { maxKeys: 60 });

const partOf = (content: Readonly<Record<string, string>>): CompiledPart =>
  Object.entries(content)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => resource("clusters", key, value));

/** The same resources, cut somewhere. */
const cutAt = (part: CompiledPart, places: readonly number[]): CompiledList => {
  const ends = [...new Set([...places.map((place) => place % (part.length + 1)), part.length])].sort((a, b) => a - b);
  return ends.map((end, i) => part.slice(ends[i - 1] ?? 0, end)).filter(({ length }) => length > 0);
};

const list = fc
  .tuple(contents, fc.array(fc.nat(), { maxLength: 4 }))
  .map(([content, cuts]) => cutAt(partOf(content), cuts));

const namesOf = (found: CompiledList): readonly string[] => resourcesIn(found).map((one) => one.name);

describe("lists in parts", () => {
  it("join what is shared and what is own in the order of names, whatever names they have", () => {
    fc.assert(
      fc.property(contents, contents, (one, other) => {
        const shared = partOf(one);
        const own = partOf(other).filter((each) => !shared.some((known) => known.name === each.name));
        const [joined = []] = joinParts(noMemo, "", { shared: [shared], own: [own] });
        expect(resourcesIn(joined)).toEqual([...shared, ...own].sort((a, b) => (a.name < b.name ? -1 : 1)));
        expect(joined.every(({ length }) => length > 0)).toBe(true);
      }),
    );
  });

  it("cut what is shared at the same places into the same parts for all classes", () => {
    const memo = createMemo();
    const shared = partOf({ BlackHoleCluster: "1", "outbound|1||x": "1", "outbound|2||x": "1" });
    const own = ["inbound|80||", "inbound|81||"].map((key) => partOf({ [key]: "1" }));
    const [one, two] = joinParts(memo, "", { shared: [shared, shared], own });
    expect([one?.length, two?.length]).toEqual([3, 3]);
    expect(two?.[0]).toBe(one?.[0]);
    expect(two?.[2]).toBe(one?.[2]);
  });

  it("are stored alike wherever their parts end", () => {
    fc.assert(
      fc.property(contents, fc.array(fc.nat(), { maxLength: 6 }), (content, cuts) => {
        const part = partOf(content);
        fc.pre(part.length > 0);
        const [whole, cut] = [createTreeEncoder()([part]), createTreeEncoder()(cutAt(part, cuts))];
        const keysOf = ({ runs }: EncodedTree) => runs.flatMap(({ parts }) => parts.map(({ key }) => key));
        expect([versionOfTree(cut), keysOf(cut)]).toEqual([versionOfTree(whole), keysOf(whole)]);
      }),
    );
  });

  it("have the blobs of their segments told when these are made, and not again", () => {
    fc.assert(
      fc.property(list, (parts) => {
        const encodeTree = createTreeEncoder();
        const told: Blob[] = [];
        const { runs } = encodeTree(parts, (blob) => told.push(blob));
        const segments = runs.flatMap((run) => run.parts.flatMap((part) => part.segments));
        const made = segments.flatMap(({ blobs }) => blobs.map(({ hash, make }) => ({ hash, bytes: make() })));
        expect(told).toEqual(made);
        encodeTree([...parts], (blob) => told.push(blob));
        expect(told.length).toBe(made.length);
      }),
    );
  });

  it("unite to all of the first and whatever else has a name of its own, sorted, each name once", () => {
    fc.assert(
      fc.property(list, fc.array(list, { maxLength: 2 }), (first, others) => {
        const united = createUnion()(first, others);
        const all = new Set([first, ...others].flatMap(namesOf));
        expect(namesOf(united)).toEqual([...all].sort());
        for (const one of resourcesIn(first)) expect(resourcesIn(united)).toContain(one);
        if (all.size === namesOf(first).length) expect(united).toBe(first);
      }),
    );
  });

  it("unite to parts that are of a workload or of none, so that what they have is found again", () => {
    const shared = partOf({ BlackHoleCluster: "1", "outbound|1||x": "1" });
    const own = partOf({ "inbound|80||": "1" });
    const { holds } = createQuestions(createColumns());
    for (const one of [[shared], [partOf({ "outbound|1||x": "1" })], cutAt(shared, [1])]) {
      const united = createUnion()(one, [[own]]);
      expect(united.map((part) => new Set(part.map((each) => each.name.startsWith("inbound|"))).size)).not.toContain(2);
      expect([holds(united, one), holds(united, [own])]).toEqual([true, true]);
    }
  });

  it("differ in the parts that only one of them has", () => {
    const [a, b, c] = [partOf({ a: "1" }), partOf({ b: "1" }), partOf({ c: "1" })];
    const apart = createDifferingLists();
    expect(apart([a, b], [a, b])).toEqual([]);
    expect(apart([a, b], [a, c])).toEqual([{ before: [b], after: [c] }]);
    expect(apart([b, a], [c, a])[0]).toBe(apart([a, b], [a, c])[0]);
  });
});
