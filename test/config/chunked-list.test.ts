import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arrayOf, ChunkedList } from "../../lib/config/chunked-list.ts";
import { predecessorOf } from "../../lib/incremental/list-delta.ts";

const others = Array.from({ length: 4 }, (_, at) => ({ other: at }));

describe("a list in chunks", () => {
  it("is what an array is, whatever was put into it and how long it is", () => {
    const edits = fc.array(fc.array(fc.tuple(fc.nat(), fc.constantFrom(...others)), { maxLength: 5 }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), edits, (length, rounds) => {
        let array: readonly object[] = Array.from({ length }, (_, at) => ({ at }));
        let list = ChunkedList.of(array);
        for (const round of rounds) {
          const edit = new Map(round.map(([place, value]) => [place % length, value]));
          const before = list;
          const whatItWas = before.toArray();
          list = list.with([...edit.keys()], [...edit.values()]);
          array = array.map((element, at) => edit.get(at) ?? element);
          expect(before.toArray()).toEqual(whatItWas);
          expect(list.toArray()).toEqual(array);
        }
        expect(list.length).toBe(length);
        expect(Array.from(array, (_, at) => list.at(at))).toEqual(array);
        expect(arrayOf(list)).toEqual(arrayOf(array));
        expect(list.at(length)).toBeUndefined();
      }),
    );
  });

  it("says where it differs from the one it was made from, and is itself where nothing comes to be another", () => {
    const list = ChunkedList.of<object>(Array.from({ length: 200 }, (_, at) => ({ at })));
    const [one = {}, two = {}] = others;
    const edited = list.with([150, 3], [one, two]);
    expect(predecessorOf(edited)).toEqual({ list, places: [3, 150] });
    expect(edited.with([3], [two])).toBe(edited);
    expect(predecessorOf(list)).toBeUndefined();
  });
});
