import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { predecessorOf, withValues } from "../../lib/incremental/list-delta.ts";
import { mappedList } from "../../lib/incremental/mapped-list.ts";
import { createMemo, noMemo } from "../../lib/incremental/memo.ts";

const a = {};
const b = {};

interface Named {
  readonly name: string;
}

let log: string[] = [];
const named = mappedList(
  "test: named",
  ({ name }: Named, input: object | undefined, _context: { readonly context: object }) => {
    log.push(name);
    return { name, input };
  },
);
const kept = mappedList(
  "test: kept",
  (element: Named, _input: number, _context: { readonly context: object }) => element,
);
const initials = mappedList("test: initials", ({ name }: Named) => name.slice(0, 1));

describe("a pass over a list", () => {
  const memo = createMemo();
  const over = (elements: readonly Named[], inputs: ReadonlyMap<string, object>, context: object) => {
    log = [];
    return named(memo, "n", elements, { context }, ({ name }) => inputs.get(name));
  };
  const [x, y, z] = [{ name: "x" }, { name: "y" }, { name: "z" }];

  it("makes again what is another element, or reads another input, and keeps the rest", () => {
    const first = over([x, y], new Map([["x", a]]), memo);
    expect(log).toEqual(["x", "y"]);
    expect(over([x, y], new Map([["x", a]]), memo)).toBe(first);
    expect(log).toEqual([]);
    const second = over([x, y], new Map([["x", b]]), memo);
    expect(log).toEqual(["x"]);
    expect(second[1]).toBe(first[1]);
    expect(second[0]).toEqual({ name: "x", input: b });
    expect(over([x, z, y], new Map([["x", b]]), memo).map(({ name }) => name)).toEqual(["x", "z", "y"]);
    expect(log).toEqual(["z", "y"]);
  });

  it("makes everything again in another context, and is the same list if that comes to the same", () => {
    over([x, y], new Map(), a);
    over([x, y], new Map(), b);
    expect(log).toEqual(["x", "y"]);
    const identity = (context: object) => kept(memo, "i", [x, y], { context }, () => 0);
    expect(identity(a)).toBe(identity(b));
    expect(initials(memo, "none", [], {})).toBe(initials(memo, "none", [], {}));
  });

  it("makes elements of themselves where nothing is read, and is the same list if that comes to the same", () => {
    const first = initials(memo, "s", [x, y, z], {});
    expect(first).toEqual(["x", "y", "z"]);
    expect(initials(memo, "s", [x, { name: "y" }, z], {})).toBe(first);
    expect(initials(memo, "s", [x, { name: "w" }], {})).toEqual(["x", "w"]);
    expect(initials(memo, "s", [x, y, z, x], {})).toEqual(["x", "y", "z", "x"]);
  });

  it("is what a fresh one is, whatever list came before, and makes nothing that stands where it stood", () => {
    const elements = ["x", "y", "z", "w"].map((name) => ({ name }));
    const lists = fc.array(fc.constantFrom(...elements), { maxLength: 7 });
    fc.assert(
      fc.property(lists, lists, fc.boolean(), fc.boolean(), (before, after, readBefore, reads) => {
        const warm = createMemo();
        const over = (list: readonly Named[], with_: typeof memo, does: boolean) =>
          named(with_, "n", list, { context: a }, does ? () => b : undefined);
        over(before, warm, readBefore);
        log = [];
        expect(over(after, warm, reads)).toEqual(over(after, noMemo, reads));
        const moved = after.filter((element, at) => readBefore !== reads || element !== before[at]);
        expect(log.slice(0, -after.length || undefined)).toEqual(moved.map(({ name }) => name));
      }),
    );
  });

  it("goes on from what is noted of a long list, and notes what it made for whoever comes next", () => {
    const long = Array.from({ length: 100 }, (_, at) => ({ name: `e${at}` }));
    const first = initials(memo, "long", long, {});
    const edited = withValues(long, [90, 7], [{ name: "f" }, { name: "g" }]);
    const second = initials(memo, "long", edited, {});
    expect(second).toEqual(initials(noMemo, "long", edited, {}));
    expect(predecessorOf(second)).toEqual({ list: first, places: [7, 90] });
  });

  it("remembers nothing without a memory", () => {
    const once = named(noMemo, "n", [x], { context: a }, () => a);
    expect(named(noMemo, "n", [x], { context: a }, () => a)).not.toBe(once);
  });
});
