import { describe, expect, it } from "vitest";
import { defaultMeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { readMeshConfig, readMeshNetworks } from "../../lib/config/read-mesh-config.ts";

describe("readMeshConfig", () => {
  it("gives the defaults for an empty text", () => {
    expect(readMeshConfig("")).toEqual({ value: defaultMeshConfig, diagnostics: [], isUsable: true });
  });

  it("replaces top-level fields and merges defaultConfig", () => {
    const { value } = readMeshConfig(
      "localityLbSetting: {failoverPriority: [a]}\ndefaultConfig: {statusPort: 1, proxyMetadata: {A: b}, tracing: {sampling: 5}}",
    );
    expect(value.localityLbSetting).toEqual({ failoverPriority: ["a"] });
    expect(value.defaultConfig).toEqual({
      ...defaultMeshConfig.defaultConfig,
      statusPort: 1,
      proxyMetadata: { A: "b" },
      tracing: { sampling: 5 },
    });
  });

  it("keeps written zeros, because they replace defaults", () => {
    expect(readMeshConfig("enableAutoMtls: false\nenableTracing: false\naccessLogFile: ''").value).toMatchObject({
      enableAutoMtls: false,
      enableTracing: false,
      accessLogFile: "",
    });
  });

  it("replaces extension providers of one name and appends the others", () => {
    const { value } = readMeshConfig(
      "extensionProviders: [{name: envoy, envoyFileAccessLog: {path: /a}}, {name: z, zipkin: {service: z.b, port: 1}}]",
    );
    expect(value.extensionProviders.map((provider) => provider.name)).toEqual([
      "prometheus",
      "stackdriver",
      "envoy",
      "z",
    ]);
    expect(value.extensionProviders[2]).toEqual({ name: "envoy", envoyFileAccessLog: { path: "/a" } });
  });

  it("ignores unknown fields with a warning that names the right one", () => {
    const { value, diagnostics } = readMeshConfig("accessLogFlie: a\nconnectTimeout: 1s");
    expect(value.connectTimeout).toBe("1s");
    expect(diagnostics).toMatchObject([
      { severity: "warning", code: "unknown-field", origin: { line: 1 }, hint: 'did you mean "accessLogFile"?' },
    ]);
  });

  it.each([
    "OutboundTrafficPolicy: { mode: REGISTRY_ONLY }",
    "outboundTrafficPolcy: { mode: REGISTRY_ONLY }",
    "outbound_trafic_policy: { mode: REGISTRY_ONLY }",
    "mesh: { outboundTrafficPolicy: { mode: REGISTRY_ONLY } }",
    "meshConfig: { outboundTrafficPolicy: { mode: REGISTRY_ONLY } }",
    "defaultConfig: { proxyMetdata: { A: b } }",
  ])(
    "refuses a field of a folder's file that is a known one with a slip, since the defaults would count: %s",
    (text) => {
      const { diagnostics, isUsable } = readMeshConfig(text, "mesh.yaml", undefined, true);
      expect([isUsable, diagnostics.map(({ severity, code }) => `${severity} ${code}`)]).toEqual([
        false,
        ["error unknown-field"],
      ]);
      expect(readMeshConfig(text).isUsable).toBe(true);
    },
  );

  it.each(["newestThing: { a: b }", "outboundTrafficPolicy: {}\noutboundTrafficPolicy2: { mode: REGISTRY_ONLY }"])(
    "takes another unknown field of a folder's file for one of a newer release: %s",
    (text) => {
      const { diagnostics, isUsable } = readMeshConfig(text, "mesh.yaml", undefined, true);
      expect([isUsable, diagnostics.map(({ severity }) => severity)]).toEqual([true, ["warning"]]);
    },
  );

  it.each([
    ["connectTimeout: 2h", "connectTimeout"],
    ["proxyListenPort: 70000", "proxyListenPort"],
    ["trustDomain: ''", "trustDomain"],
    ["defaultConfig: {drainDuration: 0.5s}", "defaultConfig.drainDuration"],
    ["defaultConfig: {tracing: {zipkin: {address: nowhere}}}", "defaultConfig.tracing.zipkin.address"],
    ["meshMTLS: {ecdhCurves: [P-256]}", "meshMTLS.ecdhCurves"],
    ["defaultInboundHttpRetryPolicy: {attempts: -1}", "defaultInboundHttpRetryPolicy.attempts"],
    [
      "outboundTrafficPolicy: {mode: ALLOW_ANY_DYNAMIC_DNS, tls: {mode: SIMPLE, credentialName: c}}",
      "outboundTrafficPolicy.tls.credentialName",
    ],
  ])("keeps the defaults and says why for %s", (text, path) => {
    const { value, diagnostics } = readMeshConfig(text);
    expect(value).toEqual(defaultMeshConfig);
    expect(diagnostics.filter(({ severity }) => severity === "error").map((one) => one.path.join("."))).toEqual([path]);
  });

  it("takes settings of release 0.8, and says that xDS ignores them", () => {
    const { value, diagnostics } = readMeshConfig("connectTimeout: 2s\nmixerCheckServer: mixer:9091");
    expect(value.written).toEqual({ connectTimeout: "2s", mixerCheckServer: "mixer:9091" });
    expect(diagnostics).toMatchObject([
      { severity: "info", code: "no-effect", path: ["mixerCheckServer"], origin: { line: 2 } },
    ]);
  });

  it.each(["mixerReportServer: mixer", "rdsRefreshDelay: 0.010s", "rdsRefreshDelay: 11m"])(
    "warns of %s and keeps the other settings",
    (text) => {
      const { value, diagnostics } = readMeshConfig(`${text}\nenableTracing: false`);
      expect(value.enableTracing).toBe(false);
      expect(diagnostics.map(({ severity }) => severity)).toEqual(["info", "warning"]);
    },
  );

  it.each([
    ["proxy_listen_port: 70000", 2],
    ["default_config:\n  tracing:\n    zipkin: {address: nowhere}", 4],
    ["extension_providers:\n- name: a\n  envoy_ext_authz_http:\n    service: none\n    port: 99999", 6],
    ["localityLbSetting:\n  fail_over: []", 3],
  ])("points to the field that was written in snake_case in %j", (text, line) => {
    const { diagnostics } = readMeshConfig(`enable_tracing: true\n${text}`);
    expect(diagnostics.map(({ origin }) => origin.line)).toContain(line);
    expect(diagnostics.map(({ origin }) => origin.line)).not.toContain(1);
  });

  it("points to elements of lists where they were written, though merging moves them", () => {
    const text =
      "trustDomainAliases: [z, A!, y]\nextensionProviders:\n- name: a\n  zipkin: {service: z, port: 1}\n- name: b\n  zipkin: {service: z, port: 0}";
    expect(readMeshConfig(text).diagnostics).toMatchObject([
      { path: ["trustDomainAliases", 1], origin: { line: 1 } },
      { path: ["extensionProviders", 1, "zipkin", "port"], origin: { line: 6 } },
    ]);
  });

  it("says on which line a text cannot be read", () => {
    expect(readMeshConfig("a: 1\nb: [").diagnostics).toMatchObject([{ code: "unreadable-document" }]);
  });
});

describe("readMeshNetworks", () => {
  it("reads networks with endpoints and gateways", () => {
    const text = "networks: {one: {endpoints: [{fromRegistry: k}], gateways: [{address: 1.2.3.4, port: 443}]}}";
    expect(readMeshNetworks(text)).toEqual({
      value: {
        networks: { one: { endpoints: [{ fromRegistry: "k" }], gateways: [{ address: "1.2.3.4", port: 443 }] } },
      },
      diagnostics: [],
      isUsable: true,
    });
  });

  it("refuses a gateway that nobody can reach", () => {
    expect(readMeshNetworks("networks: {one: {gateways: [{port: 443}]}}").diagnostics).toHaveLength(1);
  });
});
