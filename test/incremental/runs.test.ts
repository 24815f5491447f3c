import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withValues } from "../../lib/incremental/list-delta.ts";
import { createMemo, noMemo } from "../../lib/incremental/memo.ts";
import { runs } from "../../lib/incremental/runs.ts";

interface Letter {
  readonly text: string;
}

const letters = (text: string): readonly Letter[] => Array.from(text, (letter) => ({ text: letter }));
const join = (list: readonly Letter[]): string => list.map(({ text }) => text).join("");
const places = (list: readonly unknown[]): readonly number[] => [...list.keys()];

let log: string[] = [];
/** Runs end with a dot. */
const words = runs(
  "test: words",
  {},
  (list: readonly Letter[], from: number) => {
    const dot = list.findIndex(({ text }, at) => at >= from && text === ".");
    return dot === -1 ? list.length : dot + 1;
  },
  (run: readonly Letter[], { mark }: { readonly mark: string }) => {
    log.push(join(run));
    return `${mark}${join(run)}`;
  },
);

describe("runs of a list", () => {
  const memo = createMemo();
  const list = letters("ab.cd.ef");
  const over = (elements: readonly Letter[], mark = "-", order = places(elements), by = memo) => {
    log = [];
    return words(by, elements, order, { mark });
  };

  it("are found again by the objects in them, wherever they stand", () => {
    const first = over(list);
    expect(first.map(({ made }) => made)).toEqual(["-ab.", "-cd.", "-ef"]);
    const again = over([...letters("x."), ...list]);
    expect(log).toEqual(["x."]);
    expect(again.slice(1)).toEqual(first);
    expect(again[1]).toBe(first[0]);
  });

  it("are made anew where an element is another one, and nowhere else", () => {
    const held = over(list);
    const changed = list.with(4, { text: "D" });
    expect(over(changed).map(({ made }) => made)).toEqual(["-ab.", "-cD.", "-ef"]);
    expect(log).toEqual(["cD."]);
    expect(over(list)).toEqual(held);
    expect(log).toEqual([]);
  });

  it("that end with their list are other ones where a list goes on, and the other way round", () => {
    const held = [over(list), over([...list, ...letters("g.")])];
    expect(held[1]?.at(-1)?.made).toBe("-efg.");
    expect(over(list).map(({ made }) => made)).toEqual(["-ab.", "-cd.", "-ef"]);
    expect(log).toEqual([]);
    expect(over(list.slice(0, 5)).at(-1)?.made).toBe("-cd");
  });

  it("follow the order that is given", () => {
    const turned = over(list, "-", [3, 4, 5, 0, 1, 2]);
    expect(turned.map(({ made }) => made)).toEqual(["-cd.", "-ab."]);
  });

  it("are made for each context, and each time where nothing is remembered", () => {
    const held = over(list, "+");
    expect(log).toEqual(["ab.", "cd.", "ef"]);
    expect(over(list, "+")).toEqual(held);
    expect(log).toEqual([]);
    over(list, "+", places(list), noMemo);
    expect(log).toEqual(["ab.", "cd.", "ef"]);
  });

  it("are those of a fresh look where a few elements of a long list are others, and nothing else is looked at", () => {
    const long = letters("abcd.efg.hi.".repeat(12));
    const order = [...places(long.slice(40)).map((at) => at + 40), ...places(long.slice(0, 40))];
    let last = long;
    over(last, "*", order);
    const edits = fc.array(fc.tuple(fc.nat(long.length - 1), fc.constantFrom(".", "x")), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(edits, (edit) => {
        const at = new Map(edit);
        const next = withValues(last, [...at.keys()], letters([...at.values()].join("")));
        const found = over(next, "*", order);
        expect(log.join("").length).toBeLessThan(10 * at.size + 10);
        expect(found).toEqual(over(next, "*", order, noMemo));
        last = next;
      }),
    );
  });
});
