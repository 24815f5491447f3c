import { describe, expect, it } from "vitest";
import type { FolderState } from "../../../lib/config/folder/folder-state.ts";
import { folderOf, noFolder, readAgain } from "../../../lib/config/folder/last-valid.ts";
import { wholeFolder } from "../../../lib/config/folder/whole-folder.ts";
import { codes, files, hosts, rule, unopened } from "./folders.ts";

const both = `${rule("a", "a.example")}---\n${rule("b", "b.example")}`;

const read = (previous: FolderState, text: string) => readAgain(previous, [{ file: "rules.yaml", text }]);

describe("a folder that is read again", () => {
  const first = read(noFolder, both);

  it("keeps the identity of objects that read the same", () => {
    const [a, b] = wholeFolder(first).configs;
    const [again, changed] = wholeFolder(read(first, both.replace("b.example", "c.example"))).configs;
    expect(again).toBe(a);
    expect(changed).not.toBe(b);
  });

  it("serves the last valid form of an object that is refused, and says so", () => {
    const broken = read(first, both.replace("host: b.example", "hots: b.example"));
    expect(hosts(broken)).toEqual(hosts(first));
    expect(codes(broken)).toEqual(expect.arrayContaining(["unknown-field", "last-valid-served"]));
  });

  it.each([
    { written: "kind: DestinationRule", slip: "kind: DestinationRules" },
    { written: "kind: DestinationRule", slip: "kind: destinationrule" },
    { written: "networking.istio.io/v1", slip: "networking.istoi.io/v1" },
    { written: "networking.istio.io/v1", slip: "security.istio.io/v1" },
  ])("serves the last valid form of an object whose kind or group is nearly right: $slip", ({ written, slip }) => {
    const other = rule("b", "b.example").replace("  namespace: shop\n", "");
    const whole = read(noFolder, `${rule("a", "a.example")}---\n${other}`);
    const broken = read(whole, `${rule("a", "a.example")}---\n${other.replace(written, slip)}`);
    expect(hosts(broken)).toEqual(hosts(whole));
    expect(wholeFolder(broken).diagnostics).toMatchObject([
      { code: "unknown-kind", severity: "error", origin: { line: 9 } },
      { code: "last-valid-served", origin: { line: 9 } },
    ]);
    expect(hosts(read(broken, rule("a", "a.example")))).toHaveLength(1);
    expect(codes(read(broken, both))).toEqual([]);
  });

  it("serves a Kubernetes object on whose kind is misspelt, and either of two kinds with the name that is written", () => {
    const service = "apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { ports: [{ port: 80 }] }\n";
    const broken = read(read(noFolder, service), service.replace("Service", "Servce"));
    expect(wholeFolder(broken).objects).toMatchObject([{ kind: "Service", metadata: { name: "web" } }]);
    const old = "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: { name: web }\n";
    const state = read(read(noFolder, old), old.replace("extensions/v1beta1", "v1"));
    expect(wholeFolder(state).objects).toMatchObject([{ apiVersion: "extensions/v1beta1", kind: "Deployment" }]);
  });

  it("serves nothing in place of a kind that comes near none, or of another system's", () => {
    const text = rule("a", "a.example");
    for (const other of [
      text.replace("DestinationRule", "Egress"),
      text.replace("networking.istio.io", "rules.example"),
    ]) {
      const state = read(read(noFolder, text), other);
      expect(hosts(state)).toEqual([]);
      expect(codes(state)).toEqual(["unknown-kind"]);
    }
  });

  it("serves all objects of a file that cannot be parsed", () => {
    expect(hosts(read(first, `${both}\n: [half`)).sort()).toEqual([...hosts(first)].sort());
  });

  it("drops what is taken out by whole lines, or with the file", () => {
    expect(hosts(read(first, rule("a", "a.example")))).toHaveLength(1);
    expect(wholeFolder(readAgain(first, [])).configs).toEqual([]);
  });

  it("takes a beginning that ends within a line as half saved, and nothing at all as well", () => {
    for (const half of [both.slice(0, both.length - 20), both.slice(0, 30), ""]) {
      const state = read(first, half);
      expect(hosts(state)).toEqual(hosts(first));
      expect(codes(state)).toEqual(["half-saved"]);
      expect(codes(read(state, both))).toEqual([]);
      expect(hosts(read(state, both.replace("b.example", "c.example")))[1]).toContain("c.example");
    }
  });

  it("has nothing to keep for a file that was never right", () => {
    const never = read(noFolder, rule("a", "a.example").replace("host", "hots"));
    expect(hosts(never)).toEqual([]);
    expect(codes(never)).toEqual(["unknown-field"]);
  });
});

describe("several files of a folder", () => {
  it("may not hold one object twice: that is an error, as it is within a file", () => {
    const state = readAgain(
      noFolder,
      files({ "a.yaml": rule("a", "one.example"), "b.yaml": rule("a", "two.example") }),
    );
    expect(hosts(state)).toEqual(['a={"host":"two.example"}']);
    expect(wholeFolder(state).diagnostics).toMatchObject([
      {
        severity: "error",
        code: "duplicate-object",
        origin: { file: "b.yaml", line: 1 },
        message: "DestinationRule a was already given at a.yaml:1",
      },
    ]);
  });

  it("hold one object where one names the namespace that the other leaves out", () => {
    const service = (namespace: string, port: number) =>
      `apiVersion: v1\nkind: Service\nmetadata: { name: web${namespace} }\nspec: { ports: [{ port: ${port} }] }\n`;
    const [named, left] = [service(", namespace: default", 81), service("", 82)];
    const state = readAgain(noFolder, files({ "a.yaml": named, "b.yaml": left }));
    expect(wholeFolder(state).objects).toMatchObject([{ spec: { ports: [{ port: 82 }] } }]);
    expect(wholeFolder(state).diagnostics).toMatchObject([
      { severity: "error", code: "duplicate-object", origin: { file: "b.yaml" } },
    ]);
    // The copy of the other spelling is valid, and goes before what the broken file said last.
    const broken = readAgain(state, files({ "a.yaml": named, "b.yaml": left.replace("82", "none") }));
    expect(wholeFolder(broken).objects).toHaveLength(1);
    const moved = readAgain(
      readAgain(noFolder, files({ "a.yaml": named })),
      files({ "a.yaml": left.replace("82", "none") }),
    );
    expect(wholeFolder(moved).objects).toMatchObject([{ spec: { ports: [{ port: 81 }] } }]);
  });

  it("are read with the forms that stores of before keep under their spelling", () => {
    const service = "apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { ports: [{ port: 80 }] }\n";
    const state = folderOf({
      files: [{ file: "a.yaml", text: service.replace("80", "none") }],
      kept: [{ key: "Service//web", file: "a.yaml", text: service }],
    });
    expect(wholeFolder(state).objects).toMatchObject([{ spec: { ports: [{ port: 80 }] } }]);
  });

  it("may hand an object on while the file that held it is broken", () => {
    const first = readAgain(noFolder, files({ "a.yaml": both }));
    const moved = readAgain(first, files({ "a.yaml": "[", "b.yaml": rule("a", "new.example") }));
    expect(hosts(moved).sort()).toEqual(['a={"host":"new.example"}', 'b={"host":"b.example"}']);
    expect(codes(moved)).not.toContain("duplicate-object");
  });

  it("serve on what was moved, or whose file was renamed, to where it cannot be read", () => {
    const broken = `${rule("a", "a.example")} [`;
    const first = readAgain(noFolder, files({ "a.yaml": both }));
    for (const after of [
      { "b.yaml": `${rule("b", "b.example")}---\n${broken}` },
      { "a.yaml": rule("b", "b.example"), "c.yaml": broken },
    ]) {
      const moved = readAgain(first, files(after));
      const [kept] = wholeFolder(moved).diagnostics.filter(({ code }) => code === "last-valid-served");
      expect(kept?.origin).toMatchObject({
        file: "c.yaml" in after ? "c.yaml" : "b.yaml",
        line: 0,
        key: { name: "a" },
      });
      expect(hosts(moved).sort()).toEqual(['a={"host":"a.example"}', 'b={"host":"b.example"}']);
      const again = readAgain(moved, files({ ...after, "d.yaml": rule("d", "d.example") }));
      expect(hosts(again)).toContain('a={"host":"a.example"}');
      const mended = readAgain(again, files({ "b.yaml": rule("b", "b.example") }));
      expect([hosts(mended), codes(mended)]).toEqual([['b={"host":"b.example"}'], []]);
    }
  });

  it("serve on what lies under a folder that cannot be read, and what stood in a file that was renamed and cannot be opened", () => {
    const first = readAgain(noFolder, files({ "sub/a.yaml": both, "c.yaml": rule("c", "c.example") }));
    const [c] = files({ "c.yaml": rule("c", "c.example") });
    if (c === undefined) throw new Error("no file");
    const hidden = readAgain(first, [unopened("sub/"), c]);
    const again = readAgain(hidden, [unopened("sub/"), c, ...files({ "d.yaml": rule("d", "d.example") })]);
    expect(hosts(again).sort()).toEqual([...hosts(first), 'd={"host":"d.example"}'].sort());
    expect(hosts(readAgain(again, [c]))).toEqual(['c={"host":"c.example"}']);
    const renamed = readAgain(first, [c, unopened("sub/b.yaml")]);
    expect(hosts(renamed).sort()).toEqual(hosts(first).sort());
    // One that cannot be opened for long says nothing of what is taken out meanwhile.
    const later = readAgain(readAgain(noFolder, [c, unopened("b.yaml")]), [unopened("b.yaml")]);
    expect(hosts(later)).toEqual([]);
  });

  it("let go what is taken out while others are kept, or names that are but a part of another", () => {
    const first = readAgain(
      noFolder,
      files({ "a.yaml": both, "b.yaml": rule("other", "o.example"), "mesh.yaml": "{}" }),
    );
    const broken = `${rule("other", "o.example")}: [half`;
    const kept = readAgain(first, files({ "a.yaml": both, "b.yaml": broken, "mesh.yaml": "{}" }));
    const out = readAgain(kept, files({ "a.yaml": rule("b", "b.example"), "b.yaml": broken }));
    expect(hosts(out).sort()).toEqual(['b={"host":"b.example"}', 'other={"host":"o.example"}']);
    const two = readAgain(first, files({ "a.yaml": "[", "b.yaml": broken, "mesh.yaml": "{}" }));
    expect(hosts(readAgain(two, files({ "a.yaml": "[", "mesh.yaml": "{}" }))).sort()).toEqual([
      'a={"host":"a.example"}',
      'b={"host":"b.example"}',
    ]);
    const alike = readAgain(
      first,
      files({ "a.yaml": rule("b", "b.example"), "b.yaml": `${rule("a-frontend", "x")}: [` }),
    );
    expect(hosts(alike)).not.toContain('a={"host":"a.example"}');
  });

  it("do not serve on what was taken out while another one cannot be read that says nothing of it", () => {
    const first = readAgain(noFolder, files({ "a.yaml": both, "c.yaml": rule("c", "c.example") }));
    const out = readAgain(first, files({ "a.yaml": rule("b", "b.example"), "c.yaml": "[" }));
    expect(hosts(out).sort()).toEqual(['b={"host":"b.example"}', 'c={"host":"c.example"}']);
  });

  it("let go what was refused and is deleted while another one cannot be opened, which was there before", () => {
    const others = [...files({ "c.yaml": rule("c", "c.example") }), unopened("u.yaml")];
    const valid = readAgain(noFolder, [...others, ...files({ "a.yaml": rule("a", "a.example") })]);
    const refused = [...others, ...files({ "a.yaml": rule("a", "a.example").replace("host:", "hots:") })];
    const kept = readAgain(valid, refused);
    expect(hosts(kept)).toContain('a={"host":"a.example"}');
    expect(hosts(readAgain(kept, others))).toEqual(['c={"host":"c.example"}']);
  });

  it("are served as before where one of them cannot be read any more", () => {
    const first = readAgain(noFolder, files({ "a.yaml": both }));
    const gone = readAgain(first, [unopened("a.yaml")]);
    expect(hosts(gone)).toEqual(hosts(first));
    expect(wholeFolder(gone).diagnostics).toMatchObject([
      { code: "unreadable-file", severity: "error", message: "cannot be read: permission denied" },
    ]);
    expect(codes(readAgain(gone, files({ "a.yaml": both })))).toEqual([]);
    expect(codes(readAgain(noFolder, [unopened("a.yaml")]))).toEqual(["unreadable-file"]);
  });
});
