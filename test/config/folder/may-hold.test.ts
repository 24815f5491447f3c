import { describe, expect, it } from "vitest";
import type { FolderState } from "../../../lib/config/folder/folder-state.ts";
import { noFolder, readAgain } from "../../../lib/config/folder/last-valid.ts";
import { wholeFolder } from "../../../lib/config/folder/whole-folder.ts";
import { files, hosts, rule, unopened } from "./folders.ts";

const first = readAgain(noFolder, files({ "a.yaml": rule("app", "app.example"), "z.yaml": rule("z", "z.example") }));
const left = { "z.yaml": rule("z", "z.example") };

/** The files that warnings name, as those in which an object may stand. */
const named = (state: FolderState) =>
  wholeFolder(state)
    .diagnostics.filter(({ code }) => code === "last-valid-served")
    .map(({ origin }) => origin.file);

describe("a text that nobody can read", () => {
  it.each(["\\u0061pp", "\\x61pp", "\\U00000061pp", "ap\\u0070", "\\u0061\\u0070\\u0070"])(
    "may hold an object whose name it writes with escapes: %s",
    (name) => {
      const moved = readAgain(first, files({ ...left, "b.json": `{"kind": "DestinationRule", "name": "${name}"` }));
      expect(hosts(moved)).toContain('app={"host":"app.example"}');
      expect(named(moved)).toEqual(["b.json"]);
    },
  );

  it("does not hold one whose name is but a part of what the escapes make", () => {
    for (const name of ["\\u0061pp-two", "\\u0078app", "u0061pp"]) {
      const moved = readAgain(first, files({ ...left, "b.json": `{"kind": "DestinationRule", "name": "${name}"` }));
      expect(hosts(moved)).toEqual(['z={"host":"z.example"}']);
    }
  });

  it("is named by the warning only where it is the one that may hold the object", () => {
    const broken = { "b.yaml": `${rule("app-two", "x")}: [`, "c.yaml": `${rule("app", "x")}: [` };
    expect(named(readAgain(first, files({ ...left, ...broken })))).toEqual(["c.yaml"]);
    const closed = readAgain(first, [...files({ "a.yaml": "# moved\n", ...left, ...broken }), unopened("aa.yaml")]);
    expect(named(closed)).toEqual(["c.yaml"]);
    const renamed = readAgain(first, [...files(left), unopened("aa.yaml")]);
    expect(named(renamed)).toEqual(["aa.yaml"]);
  });

  it("holds no object of the folder's where it is settings, or another cluster's", () => {
    const text = `${rule("app", "x")}: [`;
    for (const file of ["mesh.yaml", "clusters/east.yaml"]) {
      expect(hosts(readAgain(first, files({ ...left, [file]: text })))).toEqual(['z={"host":"z.example"}']);
    }
  });
});
