import { describe, expect, it } from "vitest";
import { listChanges } from "../../../lib/registry/changes/changes.ts";

const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map((name) => ({ name }));
const [b2, d2] = [{ name: "b2" }, { name: "d2" }];
const lists = <T>(...list: (T | undefined)[]): readonly T[] => list.filter((item) => item !== undefined);

describe("what went and came between two lists", () => {
  it.each([
    { what: "nothing", after: lists(a, b, c, d, e), removed: [], added: [] },
    { what: "what was replaced, here and there", after: lists(a, b2, c, d2, e), removed: [b, d], added: [b2, d2] },
    { what: "what came", after: lists(a, b, b2, c, d, e), removed: [], added: [b2] },
    { what: "what went", after: lists(a, c, d), removed: [b, e], added: [] },
    { what: "no more than that where others changed places", after: lists(e, b2, c, a, d), removed: [b], added: [b2] },
  ])("is $what", ({ after, removed, added }) => {
    expect(listChanges(lists(a, b, c, d, e), after)).toEqual({ removed, added });
  });
});
