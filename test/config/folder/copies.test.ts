import { describe, expect, it } from "vitest";
import { folderOf, noFolder, readAgain, textsOf } from "../../../lib/config/folder/last-valid.ts";
import { wholeFolder } from "../../../lib/config/folder/whole-folder.ts";
import { codes, files, hosts, rule } from "./folders.ts";

const old = rule("a", "old.example");
const served = rule("a", "served.example");
const broken = served.replace("host:", "hots:");
const first = readAgain(noFolder, files({ "b.yaml": old, "z.yaml": served }));

const fromServed = ['a={"host":"served.example"}'];
const fromOld = ['a={"host":"old.example"}'];

describe("an object that two files hold", () => {
  it("is served as the later one said last while that one is refused, or cannot be read", () => {
    expect(hosts(first)).toEqual(fromServed);
    for (const text of [broken, `${served}: [`, "["]) {
      const state = readAgain(first, files({ "b.yaml": old, "z.yaml": text }));
      expect(hosts(state)).toEqual(fromServed);
      expect(codes(state)).toContain("last-valid-served");
      expect(hosts(folderOf(textsOf(state)))).toEqual(fromServed);
      const mended = readAgain(state, files({ "b.yaml": old, "z.yaml": rule("a", "mended.example") }));
      expect([hosts(mended), mended.kept]).toEqual([['a={"host":"mended.example"}'], []]);
    }
  });

  it("is served so however the copy's file changes or is named, and as the copy says once that one is edited", () => {
    const state = readAgain(first, files({ "b.yaml": old, "z.yaml": broken }));
    for (const other of [
      { "b.yaml": `# Touched.\n${old}---\n${rule("b", "b.example")}` },
      { "c.yaml": old },
      { "b.yaml": old.replace("old.example", '"old.example"'), "c.yaml": old },
    ]) {
      expect(hosts(readAgain(state, files({ ...other, "z.yaml": broken })))).toEqual(
        expect.arrayContaining(fromServed),
      );
    }
    const edited = readAgain(state, files({ "b.yaml": rule("a", "new.example"), "z.yaml": broken }));
    expect([hosts(edited), edited.kept]).toEqual([['a={"host":"new.example"}'], []]);
  });

  it("is told where it stood last, if both are broken", () => {
    const warned = (z: string) => {
      const state = readAgain(first, files({ "b.yaml": old.replace("host:", "hots:"), "z.yaml": z }));
      expect(hosts(state)).toEqual(fromServed);
      const { diagnostics } = wholeFolder(state);
      return diagnostics.filter(({ code }) => code === "last-valid-served").map(({ origin }) => origin.file);
    };
    expect([warned(broken), warned("[")]).toEqual([["z.yaml"], ["z.yaml"]]);
  });

  it("is served as the copy says once it is taken out of the later file, or with that file", () => {
    const state = readAgain(first, files({ "b.yaml": old, "z.yaml": broken }));
    for (const rest of [{}, { "z.yaml": rule("z", "z.example") }]) {
      const out = readAgain(state, files({ "b.yaml": old, ...rest }));
      expect(hosts(out)).toEqual(expect.arrayContaining(fromOld));
      expect(codes(out)).toEqual([]);
    }
  });

  it("is served as before where the earlier one is refused, which did not count", () => {
    const state = readAgain(first, files({ "b.yaml": old.replace("host:", "hots:"), "z.yaml": served }));
    expect([hosts(state), state.kept]).toEqual([fromServed, []]);
    const both = readAgain(state, files({ "b.yaml": old.replace("host:", "hots:"), "z.yaml": broken }));
    expect(hosts(both)).toEqual(fromServed);
  });

  it("is served as the later one said last where the earlier one is refused afterwards", () => {
    const state = readAgain(first, files({ "b.yaml": old, "z.yaml": broken }));
    const both = readAgain(state, files({ "b.yaml": old.replace("host:", "hots:"), "z.yaml": broken }));
    expect(hosts(both)).toEqual(fromServed);
  });

  it("is served as a file says that is read, whatever was kept of it by an earlier release that refused it", () => {
    const state = folderOf({
      files: files({ "b.yaml": old }),
      kept: [{ key: "DestinationRule/shop/a", file: "b.yaml", text: served }],
    });
    expect(hosts(state)).toEqual(fromOld);
  });
});
