import picocolors from "picocolors";
import { describe, expect, it } from "vitest";
import { analysisOf, analysisReport } from "../../../lib/cli/config/analysis-report.ts";
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
const codes = (...texts: readonly string[]) => analysisOf(read(...texts), []).map(({ code }) => code);

function told(...rounds: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const lines: string[] = [];
  const terminal = { out: () => {}, err: (line: string) => lines.push(line), colours: picocolors.createColors(false) };
  const report = analysisReport(terminal, "analyze -f mesh", "analyzed  ");
  return rounds.map((texts) => {
    report(analysisOf(read(...texts), []));
    return lines.splice(0).filter((line) => !line.startsWith("  hint:"));
  });
}

describe("what dev and push say of a world as a whole", () => {
  it("is what the analysers say of hosts, subsets and gateways that are not there", () => {
    const rule = `apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: a, namespace: shop }
spec: { selector: { istio: gone }, servers: [{ hosts: ["*"], port: { number: 80, name: http, protocol: HTTP } }] }
`;
    expect(codes(virtualService("a", "gone"), rule)).toEqual(["IST0101", "IST0101"]);
  });

  it("is not what reading and compiling have said", () => {
    const loaded = read(virtualService("a", "gone"), virtualService("b", "gone").replace("route:", "rout:"));
    expect(loaded.diagnostics.map(({ code }) => code)).toContain("unknown-field");
    const messages = analysisOf(loaded, loaded.diagnostics);
    expect(new Set(messages.map(({ origin }) => origin.key.name))).toEqual(new Set(["a"]));
    expect(analysisOf(loaded, messages)).toEqual([]);
  });

  it("is told once, for as long as it holds", () => {
    const one = virtualService("a", "gone");
    const [first, second, third, fourth, fifth] = told([one], [one], [one, virtualService("b", "gone")], [], [one]);
    expect(first).toEqual([
      expect.stringContaining('VirtualService shop/a: spec.gateways[0]: referenced gateway not found: "a"'),
      expect.stringContaining("VirtualService shop/a: spec.http[0].route[0].destination.host: referenced host"),
      "analyzed  2 messages above: `portolan analyze -f mesh` says all",
    ]);
    expect(second).toEqual([]);
    expect(third).toEqual([
      expect.stringContaining("VirtualService shop/b"),
      expect.stringContaining("VirtualService shop/b"),
      "analyzed  2 messages above, besides 2 told before: `portolan analyze -f mesh` says all",
    ]);
    expect(fourth).toEqual([]);
    expect(fifth).toEqual(first);
  });

  it("drowns nothing: twelve messages, and how many there are", () => {
    const many = Array.from({ length: 10 }, (_, at) => virtualService(`a${at}`, "gone"));
    const [lines = []] = told(many);
    expect(lines).toHaveLength(13);
    expect(lines.at(-1)).toBe("analyzed  12 messages above, besides 8 more: `portolan analyze -f mesh` says all");
  });
});
