import { describe, expect, it } from "vitest";
import { listenersOf } from "../listeners/small-world.ts";

const service = `
apiVersion: v1
kind: Service
metadata: {name: logs, namespace: obs}
spec: {clusterIP: 10.0.0.1, ports: [{name: grpc, port: 9000}]}
`;

function telemetry(spec: string): string {
  return `
---
apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata: {name: t, namespace: istio-system}
spec: ${spec}
`;
}

const manager = ["filterChains", 0, "filters", 0, "typedConfig"] as const;
const outbound = "0.0.0.0_9000";

describe("tags from format strings", () => {
  const mesh =
    "extensionProviders: [{name: o, opentelemetry: {service: logs.obs.svc.cluster.local, port: 9000}}]\ndefaultProviders: {tracing: [o]}";
  const input =
    service.replace("name: grpc", "name: http") +
    telemetry('{tracing: [{enableIstioTags: false, customTags: {path: {formatter: {value: "%REQ(:PATH)%"}}}}]}');

  it.each([
    { version: "1.28.9", want: undefined },
    { version: "1.29.0", want: [{ tag: "path", value: "%REQ(:PATH)%" }] },
    { version: "", want: [{ tag: "path", value: "%REQ(:PATH)%" }] },
  ])("are written to a proxy of version '$version': $want", ({ version, want }) => {
    const { at } = listenersOf({ input, mesh, node: { metadata: { ISTIO_VERSION: version } } });
    expect(at(outbound, ...manager, "tracing", "customTags")).toEqual(want);
  });
});

describe("the log of an HTTP connection manager", () => {
  const logOf = (world: { readonly mesh?: string; readonly input?: string }) =>
    listenersOf({ input: service + (world.input ?? ""), ...(world.mesh === undefined ? {} : { mesh: world.mesh }) });

  it("is the mesh's file, a line end added to its format", () => {
    const { at } = logOf({ mesh: 'accessLogFile: /dev/stdout\naccessLogFormat: "%PROTOCOL%"' });
    expect(at(outbound, ...manager, "accessLog", 0, "typedConfig", "logFormat")).toEqual({
      textFormatSource: { inlineString: "%PROTOCOL%\n" },
    });
  });

  it("has Istio's labels where the JSON format of the mesh cannot be read", () => {
    const { at } = logOf({ mesh: 'accessLogFile: /dev/stdout\naccessLogEncoding: JSON\naccessLogFormat: "{"' });
    expect(at(outbound, ...manager, "accessLog", 0, "typedConfig", "logFormat", "jsonFormat", "method")).toBe(
      "%REQ(:METHOD)%",
    );
  });

  it("goes to the bootstrap's log service as well, where the mesh wants that", () => {
    const { at } = logOf({ mesh: "accessLogFile: /dev/stdout\nenableEnvoyAccessLogService: true" });
    expect(at(outbound, ...manager, "accessLog", 1, "name")).toBe("envoy.access_loggers.http_grpc");
    expect(at("virtualOutbound", "accessLog", 1, "typedConfig", "commonConfig", "logName")).toBe(
      "listener_envoy_accesslog",
    );
  });

  it("is no listener's where the mesh switches those off", () => {
    const { at } = logOf({ mesh: "accessLogFile: /dev/stdout\ndisableEnvoyListenerLog: true" });
    expect(at("virtualOutbound", "accessLog")).toBeUndefined();
    expect(at(outbound, ...manager, "accessLog", 0)).toBeDefined();
  });

  it("follows the mesh's format for Istio's built-in provider", () => {
    const mesh = 'accessLogFormat: "own"\ndefaultProviders: {accessLogging: [envoy]}';
    const { at } = logOf({ mesh });
    expect(
      at(outbound, ...manager, "accessLog", 0, "typedConfig", "logFormat", "textFormatSource", "inlineString"),
    ).toBe("own\n");
  });

  it("falls back to the mesh's where a provider's service is unknown", () => {
    const mesh =
      "accessLogFile: /dev/stdout\nextensionProviders: [{name: als, envoyHttpAls: {service: nowhere.example.com, port: 1}}]";
    const { at } = logOf({ mesh, input: telemetry("{accessLogging: [{providers: [{name: als}]}]}") });
    expect(at(outbound, ...manager, "accessLog", 0, "name")).toBe("envoy.access_loggers.file");
  });
});

describe("tracing", () => {
  const provider = (kind: string) => `extensionProviders: [{name: p, ${kind}}]`;
  const tracing = (mesh: string, spec = "{tracing: [{providers: [{name: p}]}]}") =>
    listenersOf({ input: service + telemetry(spec), mesh }).at(outbound, ...manager, "tracing");

  it("is off where the mesh switches it off and nobody names a provider", () => {
    expect(
      listenersOf({ input: service, mesh: "enableTracing: false" }).at(outbound, ...manager, "tracing"),
    ).toBeUndefined();
  });

  it("is off where the provider is unknown, or its service is", () => {
    expect(tracing("{}")).toBeUndefined();
    expect(tracing(provider("zipkin: {service: nowhere.example.com, port: 1}"))).toBeUndefined();
  });

  it.each([
    ["datadog: {service: obs/logs.obs.svc.cluster.local, port: 9000}", "envoy.tracers.datadog"],
    ["skywalking: {service: logs.obs.svc.cluster.local, port: 9000}", "envoy.tracers.skywalking"],
    [
      "opentelemetry: {service: logs.obs.svc.cluster.local, port: 9000, http: {path: /v1/traces}}",
      "envoy.tracers.opentelemetry",
    ],
  ])("goes to %s", (kind, name) => {
    expect(tracing(provider(kind))).toMatchObject({ provider: { name } });
  });

  it("samples nothing at a percentage of 0, which is not the same as none", () => {
    const zipkin = provider("zipkin: {service: logs.obs.svc.cluster.local, port: 9000}");
    expect(tracing(zipkin, "{tracing: [{providers: [{name: p}], randomSamplingPercentage: 0}]}")).toMatchObject({
      randomSampling: {},
    });
  });
});

describe("providers that cannot be used", () => {
  it.each([
    ["tracing", "nobody", "unknown-extension-provider"],
    ["tracing", "envoy", "unsuitable-extension-provider"],
    ["accessLogging", "far", "unknown-provider-service"],
  ])("are reported for %s by %s as %s", (part, name, code) => {
    const mesh =
      "extensionProviders: [{name: envoy, envoyFileAccessLog: {}}, {name: far, envoyHttpAls: {service: a.b, port: 1}}]";
    const { diagnostics } = listenersOf({
      input: service + telemetry(`{${part}: [{providers: [{name: ${name}}]}]}`),
      mesh,
    });
    expect(diagnostics.map((diagnostic) => diagnostic.code)).toEqual([code]);
  });
});
