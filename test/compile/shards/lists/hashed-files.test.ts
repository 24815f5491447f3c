import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFileHasher } from "../../../../lib/compile/shards/lists/hashed-files.ts";
import type { SourceFile } from "../../../../lib/config/folder/directory.ts";

describe("files that are hashed time after time", () => {
  it("come as from a hasher that has seen none, whatever came before", () => {
    const file = fc.record({ file: fc.constantFrom("a", "b", "c", "d"), text: fc.constantFrom("1", "2") });
    fc.assert(
      fc.property(fc.array(fc.array(file, { maxLength: 6 }), { maxLength: 5 }), (rounds) => {
        const hash = createFileHasher();
        for (const files of rounds) expect(hash(files)).toEqual(createFileHasher()(files));
      }),
    );
  });

  it("are the same objects where they say the same, in a list that was written into as well", () => {
    const hash = createFileHasher();
    const files: SourceFile[] = ["b", "a", "c"].map((file) => ({ file, text: `of ${file}` }));
    const [a, b, c] = hash(files);
    expect([a?.file, b?.file, c?.file]).toEqual(["a", "b", "c"]);
    files[0] = { file: "b", text: "another" };
    const [again, other, third] = hash(files);
    expect([again, third]).toEqual([a, c]);
    expect(again).toBe(a);
    expect(third).toBe(c);
    expect(other).toEqual(createFileHasher()([{ file: "b", text: "another" }])[0]);
    expect(hash(files.map((one) => ({ ...one })))[1]).toBe(other);
  });
});
