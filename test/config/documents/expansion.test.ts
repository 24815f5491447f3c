import { describe, expect, it, vi } from "vitest";
import { expansionOf } from "../../../lib/config/documents/expansion.ts";
import { expandedSizes, parseStream } from "../../../lib/config/documents/parse.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { secretsInFiles } from "../../../lib/config/secrets/secrets-in-files.ts";
import { withoutSecrets } from "../../../lib/config/secrets/without-secrets.ts";

const service = (name: string): string => `{apiVersion: v1, kind: Service, metadata: {name: ${name}, namespace: a}}`;
const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a, annotations: {note: kty Secret}}\n";

/** Each level names the one before ten times. */
const tree = (levels: number): string =>
  `${head}x0: &x0 [${Array(10).fill("a").join()}]\n${Array.from(
    { length: levels },
    (_, level) => `x${level + 1}: &x${level + 1} [${Array(10).fill(`*x${level}`).join()}]\n`,
  ).join("")}`;

const listOf = (items: string): string => `{kind: List, items: [${items}]}`;
const lists = (levels: number): string =>
  `kind: List\nmetadata: {annotations: {note: Secret}}\nitems:\n- &l0 ${listOf(`&s ${service("s")}${", *s".repeat(9)}`)}\n${Array.from(
    { length: levels },
    (_, level) => `- &l${level + 1} ${listOf(Array(10).fill(`*l${level}`).join())}\n`,
  ).join("")}`;

const hostile = [
  ["values of values", tree(5)],
  ["values of values, too few for the old bound", tree(4)],
  ["lists of lists", lists(4)],
  ["one object many times", `kind: List\nitems:\n- &s ${service("s")}\n${"- *s\n".repeat(20_000)}`],
  ["a long text many times", `${head}a: &s ${"x".repeat(20_000)}\nb: [${Array(5_000).fill("*s").join()}]\n`],
  [
    "one array in lists of many kinds",
    `kind: List\nitems:\n- {kind: AList, items: &i [&x {metadata: {name: a}}${", *x".repeat(2_000)}]}\n${Array.from({ length: 2_000 }, (_, at) => `- {kind: A${at}List, items: *i}\n`).join("")}`,
  ],
] as const;

describe("a document whose aliases expand without end", () => {
  it.each(hostile)("is refused by name on its line, and costs no neighbour: %s", (_what, text) => {
    const { value, diagnostics } = parseStream(`${text}\n---\n${service("next")}`, { file: "a.yaml" });
    expect(diagnostics.map(({ code, severity, origin }) => `${severity} ${code} ${origin.line}`)).toEqual([
      "error unreadable-document 1",
    ]);
    expect(diagnostics[0]?.message).toMatch(/^expands to too many values: /);
    expect(value.map(({ metadata }) => metadata.name)).toEqual(["next"]);
  });

  it("is not searched for secrets, but left out where a word in it may belong to one, and says why", () => {
    const files = [{ file: "a.yaml", text: tree(5) }];
    expect(secretsInFiles(files)[0]?.message).toMatch(/^the document expands to too many values: .*secret/);
    expect(withoutSecrets(files)[0]?.text).not.toContain("x0");
  });

  it("closes what a security object in it may protect", () => {
    const policy = "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: a, namespace: b}\n";
    const { closed } = readFiles([{ file: "a.yaml", text: tree(5).replace(head, policy) }]);
    expect(closed.map(({ origin }) => origin.key.namespace)).toEqual(["b"]);
  });

  it("is refused as settings of the mesh, too", () => {
    const { diagnostics, unusableSettings = [] } = readFiles([{ file: "mesh.yaml", text: tree(5) }]);
    expect(diagnostics.map(({ code }) => code)).toEqual(["unreadable-document"]);
    expect(unusableSettings.length).toBe(1);
  });
});

describe("aliases as people write them", () => {
  it("stand for a block that many routes share", () => {
    const cors = `&cors {allowOrigins: [{exact: "${"a".repeat(200)}"}], allowMethods: [GET, POST]}`;
    const text = `${head}routes:\n- {corsPolicy: ${cors}}\n${"- {corsPolicy: *cors}\n".repeat(500)}`;
    expect(parseStream(text, { file: "a.yaml" })).toMatchObject({ value: [{ kind: "ConfigMap" }], diagnostics: [] });
  });

  it("may name an object of a list twice", () => {
    const { value } = parseStream(`kind: List\nitems: [&a ${service("a")}, *a]\n`, { file: "a.yaml" });
    expect(value.length).toBe(2);
  });
});

describe("expansionOf", () => {
  it("counts a shared part as often as it is named", () => {
    const shared = { name: "text" };
    expect(expansionOf([shared, shared], 100)).toMatchObject({ values: 4, size: 20, depth: 2 });
  });

  it("is without end for a value that contains itself", () => {
    const value: unknown[] = [];
    value.push(value);
    expect(expansionOf(value, 100).depth).toBe(Number.POSITIVE_INFINITY);
  });

  it("gives the sizes of documents that hold aliases, with their lines", () => {
    expect(expandedSizes("a: b\n---\na: &x [b, c]\nd: *x\n")).toEqual([{ line: 3, size: 12 }]);
    expect(expandedSizes("a: b & *.c\n")).toEqual([{ line: 1, size: 9 }]);
  });
});

describe("searching for secrets", () => {
  it("goes through a part once that aliases name many times, where it holds none", () => {
    const visits = (aliases: number): number => {
      const text = `${head}one: &x [${Array(100).fill("-----BEGIN").join()}]\nmany: [${Array(aliases).fill("*x").join()}]\n`;
      const spy = vi.spyOn(RegExp.prototype, "test");
      secretsInFiles([{ file: "a.yaml", text }]);
      const count = spy.mock.contexts.length;
      spy.mockRestore();
      return count;
    };
    expect(visits(20)).toBeLessThan(1.2 * visits(1));
  });

  it("finds a secret wherever an alias names it", () => {
    const key = "-----BEGIN PRIVATE KEY-----";
    const text = `${head}one: &x {key: "${key}"}\ntwo: *x\n`;
    expect(secretsInFiles([{ file: "a.yaml", text }]).map(({ path }) => path.join("."))).toEqual([
      "one.key",
      "two.key",
    ]);
    expect(withoutSecrets([{ file: "a.yaml", text }])[0]?.text).not.toContain("PRIVATE");
  });
});
