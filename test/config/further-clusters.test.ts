import { describe, expect, it } from "vitest";
import { readFiles } from "../../lib/config/folder/directory.ts";

const metadata = "metadata: { name: web, namespace: shop }\n";
const service = `apiVersion: v1\nkind: Service\n${metadata}spec: { ports: [{ name: http, port: 80 }] }\n`;
const rule = `apiVersion: networking.istio.io/v1\nkind: DestinationRule\n${metadata}spec: { host: web }\n`;

function read(text: string) {
  const { clusters, configs, diagnostics } = readFiles([{ file: "clusters/east.yaml", text }]);
  return {
    objects: clusters.flatMap((cluster) => cluster.objects.map(({ kind }) => kind)),
    configs: configs.length,
    said: diagnostics.map(({ code, severity, message }) => `${severity} ${code}: ${message}`),
  };
}

describe("a file of a further cluster", () => {
  it("holds Kubernetes' objects", () => {
    expect(read(service)).toEqual({ objects: ["Service"], configs: 0, said: [] });
  });

  it("loses no misspelt kind without a word", () => {
    const { objects, said } = read(service.replace("kind: Service", "kind: Servce"));
    expect({ objects, said }).toEqual({ objects: [], said: ["error unknown-kind: Servce is no kind of v1"] });
  });

  it("warns of configuration, which counts in the first cluster only", () => {
    expect(read(`${service}---\n${rule}`)).toEqual({
      objects: ["Service"],
      configs: 0,
      said: ["warning no-effect: is configuration, which counts in the first cluster only"],
    });
  });

  it("passes another system's kinds over as a folder does", () => {
    const { objects, said } = read(`apiVersion: example.com/v1\nkind: Thing\n${metadata}`);
    expect({ objects, said }).toEqual({
      objects: [],
      said: ["warning unknown-kind: example.com/v1 Thing is no kind that is known here"],
    });
  });
});
