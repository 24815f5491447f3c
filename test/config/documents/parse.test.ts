import { describe, expect, it } from "vitest";
import { locateAll } from "../../../lib/config/documents/locate.ts";
import { parseStream } from "../../../lib/config/documents/parse.ts";

const service = (name: string) => `apiVersion: v1\nkind: Service\nmetadata:\n  name: ${name}\n`;
const indented = (name: string, by = 4) =>
  service(name)
    .trim()
    .replaceAll("\n", `\n${" ".repeat(by)}`);
const parse = (text: string) => parseStream(text, { file: "a.yaml" });
const places = (text: string) =>
  parse(text).value.map((object) => `${object.kind} ${object.metadata.name} ${object.origin.line}`);
const problems = (text: string) =>
  parse(text).diagnostics.map(({ code, origin, message }) => `${code} ${origin.line}: ${message}`);

describe("a stream of nothing but white space and comments", () => {
  it.each([
    ["comments", "# nothing\n"],
    ["blanks", " "],
  ])("holds no document, however long it is: %s", (_what, line) => {
    const text = line.repeat(Math.ceil((8 * 1024 * 1024) / line.length));
    expect(parseStream(text, { file: "a.yaml" })).toMatchObject({ value: [], diagnostics: [], others: [] });
    const { value } = parseStream(`${text}\nkind: A\nmetadata: {name: a}\n`, { file: "a.yaml" });
    expect(value.map(({ origin }) => origin.line)).toEqual([text.split("\n").length + 1]);
  });
});

describe("parseStream", () => {
  it.each([
    { what: "several documents", text: `${service("a")}---\n${service("b")}`, want: ["Service a 1", "Service b 6"] },
    { what: "a leading marker", text: `---\n${service("a")}`, want: ["Service a 2"] },
    {
      what: "empty documents and comments",
      text: `# one\n---\n---\n# two\n${service("a")}---\n`,
      want: ["Service a 5"],
    },
    {
      what: "carriage returns",
      text: `${service("a")}---\n${service("b")}`.replaceAll("\n", "\r\n"),
      want: ["Service a 1", "Service b 6"],
    },
    { what: "a byte order mark", text: `\ufeff${service("a")}`, want: ["Service a 1"] },
    {
      what: "JSON values one after another",
      text: `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"}}\n{"apiVersion":"v1","kind":"Service",\n"metadata":{"name":"b"}}\n`,
      want: ["Service a 1", "Service b 2"],
    },
    {
      what: "a flow mapping that is no JSON",
      text: "{apiVersion: v1, kind: Service, metadata: {name: a}}",
      want: ["Service a 1"],
    },
    {
      what: "markers inside a block of text",
      text: `${service("a")}  annotations:\n    text: |\n      --- not a marker\n---\n${service("b")}`,
      want: ["Service a 1", "Service b 9"],
    },
    {
      what: "a list in YAML",
      text: `kind: List\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata:\n    name: a\n    annotations:\n      x: |\n        - no item\n- apiVersion: v1\n  kind: Service\n  metadata: {name: b}\n`,
      want: ["Service a 4", "Service b 11"],
    },
    {
      what: "a list in JSON",
      text: `{"kind":"List","items":[\n{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"}},\n{"apiVersion":"v1","kind":"Service","metadata":{"name":"b"}}]}`,
      want: ["Service a 2", "Service b 3"],
    },
    {
      what: "a typed list whose items leave out the kind",
      text: `{"kind":"ServiceList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`,
      want: ["Service a 1"],
    },
  ])("reads $what", ({ text, want }) => {
    expect(places(text)).toEqual(want);
    expect(problems(text)).toEqual([]);
  });

  it.each([
    {
      what: "a list within a list",
      text: `kind: List\nitems:\n- kind: List\n  items:\n  - ${indented("a")}\n`,
      want: ["Service a 3"],
    },
    { what: "a list of nothing", text: "apiVersion: v1\nkind: List\nitems: null\n", want: [] },
    {
      what: "the output of a Kustomize function",
      text: `apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- ${indented("a", 2)}\n`,
      want: ["Service a 4"],
    },
  ])("opens $what", ({ text, want }) => {
    expect(places(text)).toEqual(want);
    expect(problems(text)).toEqual([]);
  });

  it("names a line that the file has, also for what misses at its end", () => {
    const texts = ["kind: Service\nmetadata: {name: a\n", 'a: 1\n---\nkind: "x\n\n\n', "a: ["];
    const lines = texts.map((text) => parseStream(text, { file: "a" }).diagnostics.map(({ origin }) => origin.line));
    expect(lines).toEqual([[2], [1, 3], [1]]);
  });

  it("says once of a file that it is a Helm template", () => {
    const inText = `${service('"{{ .Release.Name }}-web"')}`;
    const inFlow = service('{{ include "web.name" . }}');
    const around = `{{- if .Values.on }}\n${service("a")}{{- end }}\n`;
    for (const text of [inText, inFlow, around, `${around}---\n${inFlow}---\n${inText}`]) {
      expect(problems(text)).toEqual([expect.stringMatching(/^helm-template \d+: is a Helm template/)]);
      expect(places(text)).toEqual([]);
    }
    expect(places(`${service("rules")}data:\n  alert: "{{ $labels.pod }} is down"\n`)).toEqual(["Service rules 1"]);
  });

  it.each([
    { file: "kustomization.yaml", text: "resources: [a.yaml]", want: "info kustomize-input" },
    {
      file: "base/kustomization.yml",
      text: "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization",
      want: "info kustomize-input",
    },
    { file: "a.yaml", text: "- {op: replace, path: /spec/replicas, value: 3}", want: "info kustomize-input" },
    {
      file: "a.yaml",
      text: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n$patch: delete",
      want: "info kustomize-input",
    },
    {
      file: "a.yaml",
      text: "apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nspec: {profile: demo}",
      want: "info not-an-object",
    },
    { file: "a.yaml", text: "apiVersion: v1\nkind: Config\nclusters: []", want: "info not-an-object" },
    {
      file: "a.yaml",
      text: "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration",
      want: "info not-an-object",
    },
    { file: "a.yaml", text: `kind: Service\nports: [{port: $\{PORT}}]`, want: "info unfilled-variables" },
    { file: "a.yaml", text: `kind: Service\nports: [{port: $\{PORT}}`, want: "error unreadable-document" },
    { file: "a.yaml", text: "kind: Service\n#@ if x:\na: 1\n#@ else:\na: 2\n", want: "info unfilled-variables" },
    { file: "a.yaml", text: "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4", want: "info not-an-object" },
    {
      file: "a.yaml",
      text: "apiVersion: v1\nkind: Service\nmetadata:\n  name: #@ data.values.name\n",
      want: "info unfilled-variables",
    },
    { file: "a.yaml", text: "[1, {op: replace}]", want: "error not-an-object" },
    { file: "values.yaml", text: "replicas: 2", want: "info not-an-object" },
    { file: "chart/Chart.yaml", text: "apiVersion: v2\nname: web\nversion: 1.0.0", want: "info not-an-object" },
    { file: "tsconfig.json", text: "[1]", want: "info not-an-object" },
    { file: "a.yaml", text: "apiVersion: v1\nspec: {}", want: "error not-an-object" },
    { file: "a.yaml", text: "kind: Service", want: "error not-an-object" },
  ])("takes $file with $text for what it is", ({ file, text, want }) => {
    const { value, diagnostics } = parseStream(text, { file });
    expect(value).toEqual([]);
    expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual([want]);
  });

  it("lets anchors stand for what they name", () => {
    const [object] = parse(`${service("a")}spec: {one: &x {b: 1}, two: *x, three: {<<: *x, c: 2}}`).value;
    expect(object?.spec).toEqual({ one: { b: 1 }, two: { b: 1 }, three: { b: 1, c: 2 } });
  });

  it.each([
    { what: "broken YAML", text: "a: [", want: /^unreadable-document/ },
    {
      what: "one that goes on too long",
      text: "a: [b\nc: d",
      want: /^unreadable-document 2: a "\[".* above is not closed/,
    },
    { what: "a brace that misses", text: "a: [{b: c]", want: /^unreadable-document 1: .*the "\]" or "}"/ },
    { what: "a quotation that does not end", text: "a: 'b\nc: d", want: /quotation mark above is not closed/ },
    { what: "a key given twice", text: "a: 1\na: 2", want: /duplicated mapping key/ },
    { what: "no object", text: "- a", want: /^not-an-object 1/ },
    { what: "no kind", text: "apiVersion: v1\nmetadata: {name: a}", want: /has no kind/ },
    { what: "no name", text: "apiVersion: v1\nkind: Service", want: /has no metadata/ },
    { what: "a name that is no text", text: "kind: Service\nmetadata: {name: 5}", want: /has no metadata.name/ },
    { what: "a tree without end", text: `${bomb()}`, want: /too many values/ },
    {
      what: "deep nesting",
      text: `{"kind":"A","metadata":{"name":"a"},"a":${"[".repeat(5000)}${"]".repeat(5000)}}`,
      want: /levels deep/,
    },
  ])("reports $what, and reads the next document", ({ text, want }) => {
    const { value, diagnostics } = parse(`${text}\n---\n${service("next")}`);
    expect(diagnostics).toHaveLength(1);
    expect(`${diagnostics[0]?.code} ${diagnostics[0]?.origin.line}: ${diagnostics[0]?.message}`).toMatch(want);
    expect(value.map((object) => object.metadata.name)).toEqual(["next"]);
  });

  it("refuses a stream that is too long", () => {
    expect(parseStream(service("a"), { file: "a", maxSize: 10 }).diagnostics[0]?.code).toBe("unreadable-document");
  });

  it("finds line and column of every field", () => {
    const stream = parse(`${service("a")}---\n# second\n${service("b")}spec:\n  ports:\n  - name: x\n    port: 80\n`);
    const [, second] = stream.value;
    const source = second === undefined ? undefined : stream.sourceOf(second);
    expect(source?.locator.locateAll([["spec", "ports", 0, "port"]])).toEqual([{ line: 14, column: 5 }]);
    expect(source?.locator.locateAll([["spec", "nothing"]])).toEqual([{ line: 11, column: 1 }]);
  });

  it("finds a field in snake_case under its camelCase name, unless the very name is there, too", () => {
    const document = { text: "max_size: 1\nlabels:\n  my_app: a\n  myApp: b\n", line: 1 };
    const paths = [["maxSize"], ["labels", "myApp"], ["labels", "my_app"]];
    expect(locateAll(document, paths).map(({ line }) => line)).toEqual([1, 4, 3]);
  });
});

/** Eight levels of ten aliases each: a hundred million values in a few hundred characters. */
function bomb(): string {
  const levels = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const lines = levels.map((name, index) => {
    const before = levels[index - 1];
    const items = before === undefined ? Array(10).fill("x") : Array(10).fill(`*${before}`);
    return `${name}: &${name} [${items.join(", ")}]`;
  });
  return `kind: A\nmetadata: {name: a}\n${lines.join("\n")}`;
}
