import picocolors from "picocolors";
import { describe, expect, it } from "vitest";
import type { Diagnostic } from "../../../lib/base/diagnostic.ts";
import { analysisOf } from "../../../lib/cli/config/analysis-report.ts";
import { createFieldLines } from "../../../lib/cli/config/field-lines.ts";
import { locatedIn } from "../../../lib/cli/config/located-messages.ts";
import { messageReport } from "../../../lib/cli/config/message-report.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";

const virtualService = (name: string, host: string) => `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: shop }
spec:
  hosts: [${name}.example.com]
  gateways: [${name}]
  http: [{ route: [{ destination: { host: ${host} } }] }]
`;
const read = (...texts: readonly string[]) => readFiles([{ file: "a.yaml", text: texts.join("---\n") }]);
const codes = (...texts: readonly string[]) => analysisOf(read(...texts)).map(({ code }) => code);

type Round = Partial<Parameters<ReturnType<typeof messageReport>>[0]>;

function reported(...rounds: readonly Round[]): readonly (readonly string[])[] {
  const lines: string[] = [];
  const terminal = { out: () => {}, err: (line: string) => lines.push(line), colours: picocolors.createColors(false) };
  const report = messageReport(terminal, "analyze -f mesh", "analyzed  ");
  return rounds.map(({ diagnostics = [], analysis = [] }) => {
    report({ diagnostics, analysis });
    return lines.splice(0).filter((line) => !line.startsWith("  hint:"));
  });
}

const told = (...rounds: readonly (readonly string[])[]) =>
  reported(...rounds.map((texts) => ({ analysis: analysisOf(read(...texts)) })));

describe("what dev and push say of a world as a whole", () => {
  it("is what the analysers say of hosts, subsets and gateways that are not there", () => {
    const rule = `apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: a, namespace: shop }
spec: { selector: { istio: gone }, servers: [{ hosts: ["*"], port: { number: 80, name: http, protocol: HTTP } }] }
`;
    expect(codes(virtualService("a", "gone"), rule)).toEqual(["IST0101", "IST0101"]);
  });

  it("is not what reading has said of an object that is refused", () => {
    const loaded = read(virtualService("a", "gone"), virtualService("b", "gone").replace("route:", "rout:"));
    expect(loaded.diagnostics.map(({ code }) => code)).toContain("unknown-field");
    const messages = analysisOf(loaded);
    expect(new Set(messages.map(({ origin }) => origin.key.name))).toEqual(new Set(["a"]));
  });

  it("has the line of its field, in the file as it is named from here, as analyze has it", () => {
    const text = virtualService("a", "gone");
    const files = [{ file: "routes/a.yaml", text }];
    const where = { folder: "mesh", prefix: "" };
    const placed = locatedIn(where, files, analysisOf(readFiles(files)));
    expect(placed.map(({ origin, path }) => `${origin.file}:${origin.line} ${path.join(".")}`)).toEqual([
      "mesh/routes/a.yaml:6 spec.gateways.0",
      "mesh/routes/a.yaml:7 spec.http.0.route.0.destination.host",
    ]);
    const elsewhere = analysisOf(readFiles([{ file: "b.yaml", text }]));
    expect(locatedIn(where, files, elsewhere)).toEqual(elsewhere);
  });

  it("has this line too where the folder fills a source that is not the primary one", () => {
    const files = [{ file: "a.yaml", text: virtualService("a", "gone") }];
    const placed = locatedIn(
      { folder: "mesh", prefix: "shop/" },
      files,
      analysisOf(readFiles(files, { under: "shop/" })),
    );
    expect(placed.map(({ origin }) => `${origin.file}:${origin.line}`)).toEqual(["mesh/a.yaml:6", "mesh/a.yaml:7"]);
  });

  it("has the line of its field round after round, also after a line was added above", () => {
    const atFields = createFieldLines();
    const linesOf = (text: string) => {
      const files = [{ file: "a.yaml", text }];
      return atFields(analysisOf(readFiles(files)), files).map(({ origin }) => origin.line);
    };
    const text = virtualService("a", "gone");
    expect(linesOf(text)).toEqual([6, 7]);
    expect(linesOf(text)).toEqual([6, 7]);
    expect(linesOf(text.replace("spec:", "spec:\n"))).toEqual([7, 8]);
  });

  it("is told once, for as long as it holds", () => {
    const one = virtualService("a", "gone");
    const [first, second, third, fourth, fifth] = told([one], [one], [one, virtualService("b", "gone")], [], [one]);
    expect(first).toEqual([
      expect.stringContaining('VirtualService shop/a: spec.gateways[0]: referenced gateway not found: "a"'),
      expect.stringContaining("VirtualService shop/a: spec.http[0].route[0].destination.host: referenced host"),
      "analyzed  2 messages of the analysers above: `portolan analyze -f mesh` lists all",
    ]);
    expect(second).toEqual([]);
    expect(third).toEqual([
      expect.stringContaining("VirtualService shop/b"),
      expect.stringContaining("VirtualService shop/b"),
      "analyzed  2 messages of the analysers above, besides 2 reported before: `portolan analyze -f mesh` lists all",
    ]);
    expect(fourth).toEqual([]);
    expect(fifth).toEqual(first);
  });

  it("drowns nothing: twelve messages, and how many there are", () => {
    const many = Array.from({ length: 10 }, (_, at) => virtualService(`a${at}`, "gone"));
    const [lines = []] = told(many);
    expect(lines).toHaveLength(13);
    expect(lines.at(-1)).toBe(
      "analyzed  12 messages of the analysers above, besides 8 more: `portolan analyze -f mesh` lists all",
    );
  });

  const key = { group: "networking.istio.io", kind: "VirtualService", namespace: "shop", name: "a" };
  const diagnostic = (severity: Diagnostic["severity"], line: number): Diagnostic => ({
    code: "unknown-field",
    severity,
    origin: { key, file: "a.yaml", line },
    path: [],
    message: `${severity} here`,
    hint: "",
  });

  it("is an error of reading each time, until it is corrected; a warning or a note once for as long as it holds", () => {
    const all = (line: number) => (["error", "warning", "info"] as const).map((one) => diagnostic(one, line));
    const rounds = reported(
      { diagnostics: all(3) },
      { diagnostics: all(5) },
      { diagnostics: [diagnostic("info", 5)] },
      { diagnostics: all(5) },
    );
    expect(rounds.map((lines) => lines.map((line) => /(?:\w+ here|.* as reported before)/.exec(line)?.[0]))).toEqual([
      ["error here", "warning here", "info here"],
      ["error here", "1 warning and 1 note as reported before"],
      ["1 note as reported before"],
      ["error here", "warning here", "1 note as reported before"],
    ]);
  });

  it("is one list with istioctl's codes, in the order of analyze", () => {
    const loaded = read(
      virtualService("a", "gone"),
      virtualService("b", "gone").replace("route:", "rout:"),
      virtualService("c", "gone").replace("}]\n", "}, { route: [{ destination: { host: gone } }] }]\n"),
    );
    const [lines = []] = reported({ diagnostics: loaded.diagnostics, analysis: analysisOf(loaded) });
    const codesOf = lines.slice(0, -1).map((line) => `${line.split(" ")[0]} ${/\[[^[]*\]$/.exec(line)?.[0]}`);
    expect(codesOf).toEqual([
      ...Array(5).fill("error [IST0101]"),
      "error [IST0106 unknown-field]",
      "warning [IST0130 unreachable-route]",
    ]);
  });
});
