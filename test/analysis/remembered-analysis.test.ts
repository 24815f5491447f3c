import { expect, it } from "vitest";
import { createAnalysis } from "../../lib/analysis/remembered-analysis.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";

it("analysers run again only where something that they read has changed", () => {
  const text = (name: string) => `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: ${name}, namespace: shop }
spec: { host: gone }
`;
  const slice = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: a, namespace: shop, labels: { kubernetes.io/service-name: a } }
addressType: IPv4
endpoints: [{ addresses: [10.1.0.1] }]
ports: [{ port: 80 }]
`;
  const analyze = createAnalysis();
  const loaded = { ...readFiles([{ file: "a.yaml", text: text("a") }]), clusterIds: [] };
  const first = analyze(loaded);
  expect(first.map(({ code }) => code)).toEqual(["IST0174"]);
  const { objects } = readFiles([{ file: "b.yaml", text: slice }]);
  expect(objects).toHaveLength(1);
  expect(analyze({ ...loaded, objects })).toBe(first);
  expect(
    analyze({ ...loaded, configs: [...loaded.configs, ...readFiles([{ file: "c.yaml", text: text("c") }]).configs] }),
  ).toHaveLength(2);
  expect(analyze({ ...loaded, configs: [] })).toEqual([]);
});

it("runs those analysers alone that read what has changed", () => {
  const read = (file: string, text: string) => readFiles([{ file, text }]);
  const { configs, ...loaded } = read(
    "a.yaml",
    `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: web, namespace: shop }
spec: { hosts: [web], http: [{ route: [{ destination: { host: gone } }] }] }
`,
  );
  const before = { ...loaded, configs, clusterIds: [] };
  const analyze = createAnalysis();
  const [first] = analyze(before);
  expect(first?.code).toBe("IST0101");
  const rule = read(
    "b.yaml",
    `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: away, namespace: shop }
spec: { host: away }
`,
  );
  const after = analyze({ ...before, configs: [...configs, ...rule.configs] });
  expect(after.map(({ code }) => code)).toContain("IST0174");
  // The message of the analyser that did not run is the one of before, not another one that says the same.
  expect(after.find(({ code }) => code === "IST0101")).toBe(first);
  const service = read(
    "c.yaml",
    `apiVersion: v1
kind: Service
metadata: { name: gone, namespace: shop }
spec: { ports: [{ name: http, port: 80 }] }
`,
  );
  expect(analyze({ ...before, objects: service.objects }).map(({ code }) => code)).not.toContain("IST0101");
});
