import { describe, expect, it } from "vitest";
import type { FolderFile } from "../../../lib/config/folder/folder-state.ts";
import { emptyFolder, folderOf, noFolder } from "../../../lib/config/folder/last-valid.ts";
import { wholeFolder } from "../../../lib/config/folder/whole-folder.ts";
import { codes, files, rule } from "./folders.ts";

const settings: readonly FolderFile[] = [
  { file: "mesh.yaml", text: "trustDomain: one.example" },
  { file: "clusters/west.yaml", text: "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}" },
  { file: "half.yaml", text: rule("h", "h.example"), halfSaved: true },
];
const rules = files({ "a.yaml": rule("a", "a.example"), "b.yaml": rule("b", "b.example") });
const odd: readonly FolderFile[] = [
  { file: "closed.yaml", text: rule("c", "c.example"), problem: "permission denied" },
  ...files({ "refused.yaml": rule("r", "r.example").replace("host:", "hots:") }),
];
const kept = [
  { key: "DestinationRule/shop/r", file: "refused.yaml", text: rule("r", "r.example") },
  { key: "", file: "clusters/west.yaml", text: "apiVersion: v1\nkind: Namespace\nmetadata: {name: west}" },
];

const whole = (runs: readonly (readonly FolderFile[])[], forms = kept) => ({ files: runs.flat(), runs, kept: forms });

describe("a folder in parts", () => {
  it.each([[[]], [kept]])("says what it says in one", (forms) => {
    const runs = [settings, rules, odd];
    const { files: flat } = whole(runs);
    expect(wholeFolder(folderOf(whole(runs, forms)))).toEqual(wholeFolder(folderOf({ files: flat, kept: forms })));
  });

  it("looks for no faults of a file of which nothing is to be said, and for those of a text that comes in its stead", () => {
    const texts = {
      "pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {contaners: []}\n",
      "rule.yaml": rule("a", "a.example").replace("name: a", "name: A_"),
    };
    const given = { files: files(texts), kept: [] };
    expect(codes(folderOf(given)).sort()).toEqual(["invalid-value", "unknown-field"]);
    const state = folderOf(given, emptyFolder("under/"), (file) => file === "under/pod.yaml");
    expect(codes(state)).toEqual(["invalid-value"]);
    expect(wholeFolder(state).objects).toMatchObject([{ metadata: { name: "web" } }]);
    const read = folderOf(given, noFolder, () => true);
    expect(wholeFolder(read)).toMatchObject({ objects: [{}], configs: [{}], diagnostics: [] });
    expect(codes(folderOf(given, read))).toEqual([]);
    const changed = files({ ...texts, "pod.yaml": texts["pod.yaml"].replace("web", "shop") });
    expect(codes(folderOf({ files: changed, kept: [] }, read))).toEqual(["unknown-field"]);
  });

  it("has the parts again that it is given again, in whatever order, and goes over the others", () => {
    const first = folderOf(whole([settings, rules, odd]));
    wholeFolder(first);
    const changed = files({ "a.yaml": rule("a", "a.example"), "b.yaml": rule("b", "new.example") });
    const second = folderOf(whole([odd, changed, settings]), first);
    expect(second.parts.map((part) => first.parts.indexOf(part))).toEqual([2, -1, 0]);
    const fresh = folderOf(whole([odd, changed, settings]));
    expect(wholeFolder(second)).toEqual(wholeFolder(fresh));
    const [a] = wholeFolder(first).configs.filter(({ meta }) => meta.name === "a");
    expect(wholeFolder(second).configs).toContain(a);
  });
});
