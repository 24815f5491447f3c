import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../../lib/mesh/memo/memo.ts";
import { runs } from "../../../lib/mesh/memo/runs.ts";

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
  { mark: "value" },
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
});
