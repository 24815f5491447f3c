import { describe, expect, it } from "vitest";
import type { SourceFile } from "../../../lib/config/folder/directory.ts";
import { folderOf, noFolder, readAgain, textsOf } from "../../../lib/config/folder/last-valid.ts";
import { wholeFolder } from "../../../lib/config/folder/whole-folder.ts";
import { codes, files, hosts, rule, unopened } from "./folders.ts";

/** Reads what a folder holds at one moment after the other, each as if the process had been started anew. */
const readInTurn = (...moments: readonly (readonly SourceFile[])[]) =>
  moments.reduce((state, moment) => folderOf(textsOf(readAgain(state, moment))), noFolder);

const both = `${rule("a", "a.example")}---\n${rule("b", "b.example")}`;
const served = ['a={"host":"a.example"}', 'b={"host":"b.example"}'];
const half = both.slice(0, -20);

describe("a file that is renamed while it is half saved", () => {
  const saved = [files({ "a.yaml": both }), files({ "a.yaml": half })];

  it("is still served as it was, until it is saved", () => {
    for (const text of [half, both.slice(0, -30)]) {
      const renamed = readInTurn(...saved, files({ "sub/b.yaml": text }));
      expect([hosts(renamed), codes(renamed)]).toEqual([served, ["half-saved"]]);
      expect(wholeFolder(renamed).diagnostics[0]?.origin.file).toBe("sub/b.yaml");
      const whole = rule("a", "a.example");
      expect(hosts(readInTurn(...saved, files({ "sub/b.yaml": text }), files({ "sub/b.yaml": whole })))).toHaveLength(
        1,
      );
    }
  });

  it("is not looked for in a file of which it is not known that it is the same one", () => {
    for (const text of ["", `# Another.\n${half}`, rule("c", "c.example")]) {
      expect(codes(readInTurn(...saved, files({ "b.yaml": text })))).not.toContain("half-saved");
    }
    // Of two beginnings either may be it, and of what two files held, either.
    expect(codes(readInTurn(...saved, files({ "b.yaml": half, "c.yaml": half })))).not.toContain("half-saved");
    const two = [files({ "a.yaml": both, "b.yaml": both }), files({ "a.yaml": half, "b.yaml": half })];
    expect(codes(readInTurn(...two, files({ "c.yaml": half })))).not.toContain("half-saved");
    // Nor while it is still there.
    expect(codes(readInTurn(...saved, files({ "a.yaml": half, "b.yaml": half })))).toContain("half-saved");
  });
});

describe("a file that is renamed while it cannot be read", () => {
  const service = "apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { ports: [{ port: 80 }] }\n";
  const clusters = (state: ReturnType<typeof readInTurn>) =>
    wholeFolder(state).clusters.map(({ id, objects }) => `${id}: ${objects.map(({ kind }) => kind)}`);
  const first = files({ "clusters/east.yaml": service });

  it("says what it said of the cluster that it names now", () => {
    const broken = service.replace("ports:", "prots:");
    for (const text of [broken, "[", `${service}---\n[`]) {
      const renamed = readInTurn(first, files({ "clusters/east.yaml": text }), files({ "clusters/west.yaml": text }));
      expect([clusters(renamed), codes(renamed)]).toEqual([
        ["west: Service"],
        expect.arrayContaining(["last-valid-served"]),
      ]);
      const mended = readAgain(renamed, files({ "clusters/west.yaml": "# nothing\n" }));
      expect([clusters(mended), mended.kept]).toEqual([["west: "], []]);
    }
    const closed = readInTurn(first, [unopened("clusters/east.yaml")], [unopened("clusters/east.json")]);
    expect([clusters(closed), codes(closed)]).toEqual([["east: Service"], ["unreadable-file"]]);
  });

  it("is taken out where its name says that it is no cluster, or no settings, any more", () => {
    expect(clusters(readInTurn(first, files({ "clusters/east.yaml": "[" }), files({ "east.yaml": "[" })))).toEqual([]);
    const settings = [files({ "mesh.yaml": "trustDomain: shop.example\n" }), files({ "mesh.yaml": "[" })];
    const { meshConfig } = wholeFolder(readInTurn(...settings, files({ "mesh-2.yaml": "[" })));
    expect(meshConfig.trustDomain).toBe(wholeFolder(noFolder).meshConfig.trustDomain);
  });

  it("keeps its objects, also those that its text does not name", () => {
    const moments = [files({ "a.yaml": both }), files({ "a.yaml": "[" }), files({ "z.yaml": "[" })];
    expect(hosts(readInTurn(...moments))).toEqual(served);
    const closed = readInTurn(files({ "a.yaml": both }), [unopened("a.yaml")], [unopened("z.yaml")]);
    expect([hosts(closed), codes(closed)]).toEqual([served, ["unreadable-file"]]);
  });
});
