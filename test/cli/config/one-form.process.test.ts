import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runPortolan } from "../run-portolan.ts";

const input = `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: routes, namespace: shop }
spec:
  hosts: [reviews]
  http:
    - match: [{ uri: { prefix: / } }]
      route: [{ destination: { host: nowhere } }]
    - match: [{ uri: { prefix: / } }]
      route:
        - destination:
            host: reviews
            subset: v9
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  selector: { istio: gone }
  servers:
    - hosts: ["*"]
      port:
        number: 80
        name: http
        protocol: HTPP
---
apiVersion: v1
kind: Service
metadata: { name: reviews, namespace: shop }
spec: { ports: [{ name: http, port: 80 }] }
`;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "portolan-form-"));
  writeFileSync(join(folder, "b.yaml"), input);
  writeFileSync(join(folder, "a.yaml"), input.replaceAll("name: routes", "name: first").split("---")[0] ?? "");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `level code file:line path` of each message that a command printed, in its order; notes apart, which \`dev\` and \`push\` count. */
const formOf = (text: string): readonly string[] =>
  text.split("\n").flatMap((line) => {
    const analyzed = /^(Error|Warning) \[(\S+)\] \(.* (\S+:\d+)\) (\S+)/.exec(line);
    if (analyzed !== null) return [[analyzed[1]?.toLowerCase(), ...analyzed.slice(2)].join(" ")];
    const [, level, place, path] = /^(error|warning) (\S+:\d+) .*? (spec\S*):/.exec(line) ?? [];
    const code = /\[(\S+?)(?: \S+)?\]$/.exec(line)?.[1];
    return level === undefined ? [] : [[level, code, place, path].join(" ")];
  });

describe("messages of the commands that read a folder", () => {
  it("have one form in analyze, push and dev: the same codes, places and order", async () => {
    const analyzed = formOf((await runPortolan("analyze", folder)).out);
    expect(analyzed).toEqual([
      `error IST0101 ${folder}/a.yaml:8 spec.http[0].route[0].destination.host`,
      `error IST0101 ${folder}/a.yaml:13 spec.http[1].route[0].destination.subset`,
      `error IST0101 ${folder}/b.yaml:8 spec.http[0].route[0].destination.host`,
      `error IST0101 ${folder}/b.yaml:13 spec.http[1].route[0].destination.subset`,
      `error IST0106 ${folder}/b.yaml:25 spec.servers[0].port.protocol`,
      `error IST0109 ${folder}/a.yaml:5 spec.hosts`,
      `error IST0109 ${folder}/b.yaml:5 spec.hosts`,
      `warning IST0130 ${folder}/a.yaml:9 spec.http[1]`,
      `warning IST0130 ${folder}/b.yaml:9 spec.http[1]`,
    ]);
    const pushed = await runPortolan("push", folder, "--store", join(folder, ".store"));
    expect(formOf(pushed.err)).toEqual(analyzed);
    const other = await runPortolan("push", folder, "--source", "other", "--store", join(folder, ".store"));
    expect(formOf(other.err)).toEqual(expect.arrayContaining(analyzed.filter((line) => /IST0106|IST0130/.test(line))));
    const once = await runPortolan("dev", folder, "--once", "--store", join(folder, ".dev"));
    expect(formOf(once.err)).toEqual(analyzed);
    const ofReading = analyzed.filter((line) => /IST0106|IST0130/.test(line));
    expect(formOf((await runPortolan("validate", folder)).err)).toEqual(ofReading);
    const applied = await runPortolan("apply", "-f", folder, "--store", join(folder, ".applied"));
    expect(formOf(applied.err)).toEqual(ofReading);
  });

  it("have in JSON the same places", async () => {
    const { out } = await runPortolan("dev", folder, "--once", "--json", "--store", join(folder, ".json"));
    const { diagnostics, analysis } = JSON.parse(out.split("\n").at(-1) ?? "");
    for (const { origin } of [...diagnostics, ...analysis]) expect(origin.file).toMatch(`${folder}/`);
    expect(diagnostics.length).toBeGreaterThan(0);
    expect(analysis.length).toBeGreaterThan(0);
  });

  it("come with their hints from analyze, too", async () => {
    writeFileSync(join(folder, "hint.yml"), input.split("---")[1]?.replace("servers:", "serverz:") ?? "");
    const { out } = await runPortolan("analyze", "-f", join(folder, "hint.yml"));
    expect(out).toMatch(/^Error \[IST0106\] .*serverz.*\n {2}hint: did you mean "servers"\?$/m);
    const json = JSON.parse((await runPortolan("analyze", "-f", join(folder, "hint.yml"), "-o", "json")).out);
    expect(json[0]).toMatchObject({ code: "IST0106", hint: 'did you mean "servers"?' });
  });
});

describe("analyze", () => {
  it("refuses an analyser that there is none of, and names those that there are", async () => {
    const { code, err } = await runPortolan("analyze", folder, "--analyzer", "nope");
    expect(code).toBe(2);
    expect(err).toMatch(/no analyser "nope"; use one of .*virtualservice\.GatewayAnalyzer/);
  });

  it("says in its help what -n does", async () => {
    const { out } = await runPortolan("analyze", "--help");
    expect(out.replaceAll(/\s+/g, " ")).toContain(
      "show messages of this namespace only; objects of files that name none",
    );
  });
});
