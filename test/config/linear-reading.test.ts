import { describe, expect, it, vi } from "vitest";
import { documentLeftOut } from "../../lib/config/documents/left-out-document.ts";
import { createLocator } from "../../lib/config/documents/locate.ts";
import { parseStream } from "../../lib/config/documents/parse.ts";
import { replaceIn } from "../../lib/config/documents/replace.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";

const list = (count: number, item: (at: number) => string): string =>
  `kind: List\nitems:\n${Array.from({ length: count }, (_, at) => item(at)).join("")}`;
const misspelt = (at: number): string =>
  `- {apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: v${at}, namespace: a}, spec: {hosts: [a${at}.b], htp: []}}\n`;
const read = (text: string) => readFiles([{ file: "a.yaml", text }]);

describe("reading a list whose items are faulty", () => {
  it("names the line of each fault", () => {
    const { diagnostics } = read(list(400, misspelt));
    expect(diagnostics.map(({ code, origin }) => `${code} ${origin.line}`)).toEqual(
      Array.from({ length: 400 }, (_, at) => `unknown-field ${at + 3}`),
    );
  });

  it("asks one locator about all items of a document, which parses it once", () => {
    const { value, sourceOf } = parseStream(list(400, misspelt), { file: "a.yaml" });
    expect(new Set(value.map((object) => sourceOf(object)?.locator)).size).toBe(1);
    const document = { text: "a: 1\nb: 2\n", line: 1 };
    const locator = createLocator(document);
    expect(locator.locateAll([["b"]])).toEqual([{ line: 2, column: 1 }]);
    // Another text would say otherwise, if anything looked at it.
    document.text = "b: 2\na: 1\n";
    expect(locator.locateAll([["b"]])).toEqual([{ line: 2, column: 1 }]);
  });

  it.each([
    ["no object", () => "- a: 1\n"],
    ["security objects without a name", () => "- kind: AuthorizationPolicy\n"],
  ])("searches a document for marks of templates once, where its items are %s", (_what, item) => {
    const searched = (count: number): number => {
      const spy = vi.spyOn(RegExp.prototype, "test");
      read(list(count, item));
      const characters = spy.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
      spy.mockRestore();
      return characters;
    };
    const [some, more] = [searched(500), searched(1_000)];
    expect(more).toBeLessThan(2.2 * some);
  });

  it("reports so many items without an object, and counts the rest", () => {
    const { diagnostics } = read(list(5_000, () => "- a: 1\n"));
    expect(diagnostics.length).toBe(201);
    expect(diagnostics.at(-1)).toMatchObject({
      code: "more-findings",
      severity: "info",
      message: "4800 more documents or items of this file hold no object that can be read",
    });
  });

  it("reads any number of faulty items without a list of arguments that is too long", () => {
    const { diagnostics, configs } = read(list(150_000, (at) => (at === 0 ? valid : "- 1\n")));
    expect([diagnostics.length, configs.length]).toEqual([201, 1]);
  });

  it("closes any number of namespaces without a list of arguments that is too long", () => {
    const { closed } = read(list(130_000, (at) => `- {kind: PeerAuthentication, metadata: {namespace: n${at}}}\n`));
    expect(closed.length).toBe(130_000);
  });

  it("reports any number of items that were left out without a list of arguments that is too long", () => {
    const leftOut = documentLeftOut({ message: "is left out", hint: "" }, []);
    const { diagnostics } = read(list(130_000, () => `- ${leftOut}\n`));
    expect(diagnostics.length).toBe(130_000);
  });

  it("keeps what is right beside them", () => {
    const { configs } = read(list(300, (at) => (at % 3 === 0 ? "- {}\n" : at % 3 === 1 ? misspelt(at) : valid)));
    expect(configs.length).toBe(1);
  });

  it("gives the line of the object in a document that is too long to be parsed with positions", () => {
    const { diagnostics } = read(`${list(2, misspelt)}${`# ${"x".repeat(100)}\n`.repeat(50_000)}`);
    expect(diagnostics.map(({ origin }) => origin.line)).toEqual([3, 4]);
  });
});

const valid =
  "- {apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: ok, namespace: a}, spec: {hosts: [ok.b], http: [{route: [{destination: {host: x}}]}]}}\n";

describe("reading a stream of templates", () => {
  it("asks the parser of JSON about none of them: its errors would cost more than the rest", () => {
    const spy = vi.spyOn(JSON, "parse");
    const { others } = parseStream("{{ if }}\nkind: Secret\n---\n".repeat(1_000), { file: "a.yaml" });
    const asked = spy.mock.calls.length;
    spy.mockRestore();
    expect([others.length, asked]).toEqual([1_000, 0]);
  });

  it.each(['{"kind": "A", "metadata": {"name": "a"}}', ' \n{ "kind": "A", "metadata": {"name": "a"}}', "{}"])(
    "asks it about JSON: %s",
    (text) => {
      const spy = vi.spyOn(JSON, "parse");
      parseStream(text, { file: "a.json" });
      const asked = spy.mock.calls.length;
      spy.mockRestore();
      expect(asked).toBe(1);
    },
  );
});

describe("replacing a document", () => {
  it.each(["\n", "# comment\n"])("keeps its lines behind any number of lines %j", (line) => {
    const before = line.repeat(5_000_000);
    const document = { text: `${before}a:\n- b\n`, line: 1 };
    const replaced = replaceIn(document.text, [{ document, path: [], text: "{}" }], "");
    expect(replaced === `${"\n".repeat(5_000_000)}{}\n\n`).toBe(true);
  });
});

describe("reading an object with many faults", () => {
  const object = (fields: string): string =>
    `apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: v, namespace: a}\nspec:\n  hosts: [a.b]\n${fields}`;

  it("reports a hundred, and counts the rest", () => {
    const routes = Array.from({ length: 1_000 }, (_, at) => `  - {rout${at}: []}\n`).join("");
    const { diagnostics, configs } = read(object(`  http:\n${routes}`));
    expect(configs).toEqual([]);
    expect(diagnostics.length).toBe(101);
    expect(diagnostics.at(-1)).toMatchObject({
      code: "more-findings",
      severity: "error",
      message: "has 900 more findings, which are not reported",
      origin: { key: { kind: "VirtualService", name: "v" } },
    });
  });

  it("reports the error of an object that is refused behind more warnings than are reported", () => {
    const route = "  - {match: [{uri: {exact: /a}}], route: [{destination: {host: x}}]}\n";
    const { diagnostics, configs } = read(object(`  http:\n${route.repeat(150)}  - {match: [], redirect: {}}\n`));
    expect(configs).toEqual([]);
    expect(diagnostics.some(({ severity, code }) => severity === "error" && code === "missing-field")).toBe(true);
    expect(diagnostics.length).toBe(101);
  });

  it("looks at each field a few times where many are written in snake_case", () => {
    const looked = (count: number): number => {
      const routes = Array.from(
        { length: count },
        () => "  - {cors_policy: {allow_credentials: true}, route: [{destination: {host: x}}]}\n",
      );
      const spy = vi.spyOn(Array.prototype, "map");
      const { configs } = read(object(`  http:\n${routes.join("")}`));
      const elements = spy.mock.contexts.reduce<number>((sum, of) => sum + (Array.isArray(of) ? of.length : 0), 0);
      spy.mockRestore();
      expect(configs.length).toBe(1);
      return elements;
    };
    const [some, more] = [looked(200), looked(400)];
    expect(more).toBeLessThan(2.2 * some);
  });
});
