import { describe, expect, it } from "vitest";
import { hashOf } from "../../../lib/base/blob.ts";
import { contentOf, longPart, longSegment, partListText, partsIn } from "../../../lib/snapshot/long/listed-part.ts";
import type { Part } from "../../../lib/snapshot/root.ts";

const hashes = (...names: readonly string[]): readonly string[] => names.map(hashOf);

/** A route table of a namespace: one of its lists is its own. */
function tableOf(namespace: string): Part {
  const long = {
    version: hashOf(namespace),
    lists: hashes("shared", "also shared", namespace),
    from: hashes("origins"),
  };
  return { segment: longSegment("80", 40_000, long), content: contentOf([{ name: "80", version: long.version }]) };
}

const cluster: Part = {
  segment: { hash: hashOf("c"), first: "a", last: "b", resources: 2, bodyOffset: 90, bodyBytes: 700 },
  content: hashOf("of c"),
};
const list: Part = { list: hashOf("list"), content: hashOf("of list") };
const listed = (part: Part) => ({ text: JSON.stringify(part), long: longPart(part) });

describe("a list of parts", () => {
  const parts = [cluster, tableOf("shop"), list, tableOf("blog")];
  const text = partListText(parts.map(listed));

  it("is read as it was, whatever is in it", () => {
    expect(partsIn(text)).toEqual(parts);
    expect(partsIn(partListText([]))).toEqual([]);
  });

  it("has each hash that long resources name once, and none that follows from others", () => {
    const count = (hash = "") => text.split(hash).length - 1;
    expect(hashes("shared", "also shared", "origins", "shop", "blog").map(count)).toEqual([1, 1, 1, 2, 2]);
    for (const part of [tableOf("shop"), tableOf("blog")]) {
      expect("segment" in part && count(part.segment.hash)).toBe(0);
      expect(count(part.content)).toBe(0);
    }
  });

  it("of others is their JSON", () => {
    expect(partListText([cluster, list].map(listed))).toBe(JSON.stringify({ parts: [cluster, list] }));
  });

  it("of an earlier version says all of long resources, too", () => {
    expect(partsIn(JSON.stringify({ parts }))).toEqual(parts);
  });

  it("is refused where it has no hash that a part names", () => {
    const { hashes, ...rest }: { readonly hashes: readonly string[] } = JSON.parse(text);
    for (const damaged of [rest, { ...rest, hashes: hashes.slice(1) }])
      expect(() => partsIn(JSON.stringify(damaged))).toThrow("a list of parts has no hash");
  });
});
