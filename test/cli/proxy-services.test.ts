import { describe, expect, it } from "vitest";
import { bootstrapFor } from "../../lib/cli/bootstrap.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world-of.ts";
import { readFiles } from "../../lib/config/directory.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { createMemo } from "../../lib/mesh/memo/memo.ts";
import { proxyOf } from "../../lib/mesh/proxy/proxy-from-node.ts";
import { generate } from "../../lib/xds/generate.ts";
import { envoyComplaint } from "../e2e/envoy.ts";

const proxy = { name: "web-1", type: "sidecar", ip: "10.1.0.1", namespace: "default" } as const;

function worldWith(mesh: string) {
  return worldOf(readFiles([{ file: "mesh.yaml", text: mesh }]), defaultWorldOptions, createMemo()).value;
}

function bootstrapWith(defaultConfig: string, metadata: Readonly<Record<string, unknown>> = {}) {
  const settings = worldWith(`defaultConfig: ${defaultConfig}`).meshConfig.defaultConfig;
  return bootstrapFor({ ...proxy, metadata }, settings, "http://127.0.0.1:8080", 0);
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

  it("goes by the proxy's own settings before the mesh's", () => {
    const own = { PROXY_CONFIG: { envoyAccessLogService: { address: "own.example:1" } } };
    expect(JSON.stringify(bootstrapWith("{envoyAccessLogService: {address: 'als.example:9000'}}", own))).toContain(
      '"own.example"',
    );
  });

  it("sends metrics and traces where the clusters lead", () => {
    const { statsSinks, tracing } = bootstrapWith(
      "{envoyMetricsService: {address: 'm.example:9001'}, tracing: {zipkin: {address: 'z.example:9411'}}}",
    );
    expect(JSON.stringify(statsSinks)).toContain('"clusterName":"envoy_metrics_service"');
    expect(JSON.stringify(tracing)).toContain('"collectorCluster":"zipkin"');
  });
});

describe("enableEnvoyAccessLogService", () => {
  it("names a cluster that the bootstrap has", () => {
    const defaultConfig = "{envoyAccessLogService: {address: 'als.example:9000'}}";
    const memo = createMemo();
    const world = worldWith(`{enableEnvoyAccessLogService: true, defaultConfig: ${defaultConfig}}`);
    const found = proxyOf(proxy, world.registry, world.meshConfig).value;
    if (found === undefined) throw new Error("the proxy of this test is valid");
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
