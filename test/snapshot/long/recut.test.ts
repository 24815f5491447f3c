import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutEvenly } from "../../../lib/base/cut-evenly.ts";
import { nameHash } from "../../../lib/base/name-hash.ts";
import { recut } from "../../../lib/snapshot/long/recut.ts";
import { splitBetween } from "../../../lib/snapshot/long/split-between.ts";
import { propertyRuns } from "../../soak-options.ts";

let looks = 0;

const byHash = {
  weight: (element: string) => {
    looks += 1;
    return element.length;
  },
  hash: (element: string) => nameHash(element),
};

/** Ends depend on what comes next, too. */
const cut = (list: readonly string[]) =>
  splitBetween(list, (last, next) => last.length > next.length).flatMap((stretch) => cutEvenly(stretch, 12, byHash));

describe("a list that is cut again", () => {
  it("is cut as if it never had been, whatever is new in it", () => {
    const element = fc.stringMatching(/^[a-d]{1,4}$/);
    const list = fc.array(element, { maxLength: 60 });
    fc.assert(
      fc.property(list, fc.nat(), fc.nat(5), fc.array(element, { maxLength: 4 }), (before, place, gone, come) => {
        const now = before.toSpliced(place % (before.length + 1), gone, ...come);
        expect(recut(cut(before), now, cut)).toEqual(cut(now));
      }),
      { numRuns: propertyRuns(5_000) },
    );
  });

  it("is cut so, too, where it is told in which places something else may stand", () => {
    const element = fc.stringMatching(/^[a-d]{1,4}$/);
    const list = fc.array(element, { minLength: 1, maxLength: 60 });
    const edits = fc.array(fc.tuple(fc.nat(), element), { maxLength: 4 });
    fc.assert(
      fc.property(list, edits, (before, edit) => {
        const places = new Map(edit.map(([place, value]) => [place % before.length, value]));
        const now = before.map((value, at) => places.get(at) ?? value);
        const others = [...places.keys()].sort((a, b) => a - b);
        expect(recut(cut(before), now, cut, others)).toEqual(cut(now));
      }),
      { numRuns: propertyRuns(5_000) },
    );
  });

  it("is looked at where something is new, however long it is", () => {
    const before = Array.from({ length: 4_000 }, (_, at) => `element ${at}`);
    const runs = cut(before);
    const again = (place: number, element: string): number => {
      looks = 0;
      recut(runs, before.with(place, element), cut);
      return looks;
    };
    for (const place of [0, 1_999, 3_999]) expect(again(place, "another")).toBeLessThan(80);
    looks = 0;
    expect(recut(runs, [...before], cut)).toEqual(runs);
    expect(looks).toBe(0);
  });
});
