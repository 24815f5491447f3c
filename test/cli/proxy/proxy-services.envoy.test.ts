import { describe, expect, it } from "vitest";
import { bootstrapFor, proxiesIn } from "../../../lib/cli/proxy/bootstrap.ts";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles, type SourceFile } from "../../../lib/config/folder/directory.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { generate } from "../../../lib/xds/generate.ts";
import { envoyComplaint } from "../../e2e/envoy.ts";

/** A pod that has a sidecar, and what its annotations say. */
const pod = (annotations: Readonly<Record<string, string>>) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-1", labels: { "security.istio.io/tlsMode": "istio" }, annotations },
  status: { podIP: "10.1.0.1", hostIP: "192.0.2.7" },
});

const filesWith = (mesh: string, annotations: Readonly<Record<string, string>> = {}): readonly SourceFile[] => [
  { file: "mesh.yaml", text: mesh },
  { file: "pod.json", text: JSON.stringify(pod(annotations)) },
];

function bootstrapWith(defaultConfig: string, annotations: Readonly<Record<string, string>> = {}) {
  const [proxy] = proxiesIn(filesWith(`defaultConfig: ${defaultConfig}`, annotations));
  if (proxy === undefined) throw new Error("the pod of this test has a proxy");
  return bootstrapFor(proxy, "http://127.0.0.1:8080", 0);
}

const clusterNames = ({ staticResources }: ReturnType<typeof bootstrapWith>) =>
  (staticResources?.clusters ?? []).map(({ name }) => name);

describe("a proxy's bootstrap", () => {
  it.each([
    ["nothing", "{}", []],
    ["a log service", "{envoyAccessLogService: {address: 'als.example:9000'}}", ["envoy_accesslog_service"]],
    [
      "services over TLS, by address, that are kept alive",
      `{envoyAccessLogService: {address: "[2001:db8::1]:9000", tlsSettings: {mode: SIMPLE, sni: als.example,
         subjectAltNames: [als.example], caCertificates: /etc/ca.pem}, tcpKeepalive: {probes: 3, time: 10s}},
        envoyMetricsService: {address: "10.0.0.9:9001", tlsSettings: {mode: ISTIO_MUTUAL}}}`,
      ["envoy_metrics_service", "envoy_accesslog_service"],
    ],
    [
      "a client certificate from files",
      `{envoyAccessLogService: {address: "als.example:9000",
         tlsSettings: {mode: MUTUAL, clientCertificate: /c.pem, privateKey: /k.pem}}}`,
      ["envoy_accesslog_service"],
    ],
    ["metrics by the old setting", "{envoyMetricsServiceAddress: 'm.example:9001'}", ["envoy_metrics_service"]],
    ["Zipkin", "{tracing: {zipkin: {address: 'zipkin.istio-system:9411'}}}", ["zipkin"]],
    ["Datadog", "{tracing: {datadog: {address: 'dd.example:8126'}, tlsSettings: {mode: SIMPLE}}}", ["datadog_agent"]],
  ])("with %s has their clusters, and Envoy takes it", async (_what, defaultConfig, want) => {
    const bootstrap = bootstrapWith(defaultConfig);
    expect(clusterNames(bootstrap)).toEqual(["portolan", "sds-grpc", ...want]);
    expect(await envoyComplaint(bootstrap)).toBe("");
  });

  it("goes by the pod's own settings before the mesh's", () => {
    const own = { "proxy.istio.io/config": "envoyAccessLogService: {address: 'own.example:1'}" };
    const bootstrap = JSON.stringify(bootstrapWith("{envoyAccessLogService: {address: 'als.example:9000'}}", own));
    expect(bootstrap).toContain('"own.example"');
    expect(bootstrap).not.toContain("als.example");
  });

  it.each([
    ["the mesh", "{tracing: {datadog: {address: '$(HOST_IP):8126'}}}", {}],
    ["an annotation", "{}", { "proxy.istio.io/config": "tracing: {datadog: {address: '$(HOST_IP):8126'}}" }],
  ])("finds a collector on the pod's node, if %s says so", (_where, defaultConfig, annotations) => {
    const [, , collector] = bootstrapWith(defaultConfig, annotations).staticResources?.clusters ?? [];
    expect(JSON.stringify(collector?.loadAssignment)).toContain('{"address":"192.0.2.7","portValue":8126}');
  });

  it("sends metrics and traces where the clusters lead", () => {
    const { statsSinks, tracing } = bootstrapWith(
      "{envoyMetricsService: {address: 'm.example:9001'}, tracing: {zipkin: {address: 'z.example:9411'}}}",
    );
    expect(JSON.stringify(statsSinks)).toContain('"clusterName":"envoy_metrics_service"');
    expect(JSON.stringify(tracing)).toContain('"collectorCluster":"zipkin"');
  });
});

it("is not broken by an address that is none", () => {
  const odd = { ...pod({}), status: { podIP: "10.1.0.1", hostIP: 'a"b' } };
  const mesh = `defaultConfig: {tracing: {customTags: {node: {literal: {value: "on $(HOST_IP)"}}}}}`;
  const [proxy] = proxiesIn([
    { file: "mesh.yaml", text: mesh },
    { file: "pod.json", text: JSON.stringify(odd) },
  ]);
  expect(proxy?.settings.tracing?.customTags).toEqual({ node: { literal: { value: 'on a"b' } } });
});

describe("enableEnvoyAccessLogService", () => {
  it("names a cluster that the bootstrap has", () => {
    const defaultConfig = "{envoyAccessLogService: {address: 'als.example:9000'}}";
    const memo = createMemo();
    const files = filesWith(`{enableEnvoyAccessLogService: true, defaultConfig: ${defaultConfig}}`);
    const world = worldOf(readFiles(files), defaultWorldOptions, memo).value;
    const [found] = world.proxies;
    if (found === undefined) throw new Error("the pod of this test has a proxy");
    const { listeners } = generate(buildMesh(world, memo).value, found, memo).value;
    const named = JSON.stringify(listeners).matchAll(/"envoyGrpc":{"clusterName":"([^"]*)"}/g);
    const grpcServices = [...new Set([...named].map(([, name]) => name))];
    expect(grpcServices).toContain("envoy_accesslog_service");
    expect(clusterNames(bootstrapWith(defaultConfig))).toEqual(expect.arrayContaining(grpcServices));
  });

  it.each([
    ["{}", 1],
    ["{envoyAccessLogService: {address: 'als.example:9000'}}", 0],
  ])("is warned about without an address: %s", (defaultConfig, want) => {
    const text = `enableEnvoyAccessLogService: true\ndefaultConfig: ${defaultConfig}\n`;
    const { diagnostics } = readFiles([{ file: "mesh.yaml", text }]);
    expect(diagnostics.filter(({ path }) => path[0] === "enableEnvoyAccessLogService")).toHaveLength(want);
  });
});
