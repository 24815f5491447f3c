import { describe, expect, it } from "vitest";
import { bare, beforeInjection, census, networking, only, podText } from "./pods/manifests.ts";

/** A mesh that differs from Istio's defaults in everything that a pod may say itself. */
const otherMesh = "defaultConfig: {meshId: other, interceptionMode: NONE, proxyMetadata: {ISTIO_META_HTTP10: '1'}}";
const forAll = networking("ProxyConfig", "all", { environmentVariables: { ISTIO_META_DNS_CAPTURE: "true" } });

describe("a pod with an injected container", () => {
  it("has the proxy that its container's environment and arguments say, whatever the mesh says by now", () => {
    const { node, proxy } = only([podText("injected-sidecar"), forAll], otherMesh);
    expect(node).toEqual({
      id: "sidecar~10.1.2.3~cart-7d9f5c6b8-xk2lp.shop~shop.svc.cluster.local",
      cluster: "cart.shop",
      metadata: {
        APP_CONTAINERS: "app",
        CLUSTER_ID: "eu-1",
        ENVOY_PROMETHEUS_PORT: 15090,
        ENVOY_STATUS_PORT: 15021,
        IDLE_TIMEOUT: "30s",
        INSTANCE_IPS: "10.1.2.3,fd00::23",
        INTERCEPTION_MODE: "REDIRECT",
        ISTIO_VERSION: "1.29.2",
        LABELS: {
          app: "cart",
          "security.istio.io/tlsMode": "istio",
          "service.istio.io/canonical-name": "cart",
          "service.istio.io/canonical-revision": "v2",
          version: "v2",
        },
        MESH_ID: "mesh-eu",
        NAME: "cart-7d9f5c6b8-xk2lp",
        NAMESPACE: "shop",
        NETWORK: "net-eu",
        NODE_NAME: "worker-4",
        OWNER: "kubernetes://apis/apps/v1/namespaces/shop/deployments/cart",
        POD_PORTS: '[\n    {"name":"http","containerPort":8080,"protocol":"TCP"}\n]',
        PROXY_CONFIG: {
          binaryPath: "/usr/local/bin/envoy",
          // The limit of 1500m, rounded up.
          concurrency: 2,
          configPath: "./etc/istio/proxy",
          controlPlaneAuthPolicy: "MUTUAL_TLS",
          discoveryAddress: "istiod.istio-system.svc:15012",
          drainDuration: "45s",
          holdApplicationUntilProxyStarts: true,
          meshId: "mesh-eu",
          proxyAdminPort: 15000,
          proxyMetadata: { ISTIO_META_IDLE_TIMEOUT: "30s" },
          serviceCluster: "istio-proxy",
          statNameLength: 189,
          statusPort: 15020,
          terminationDrainDuration: "5s",
          tracing: { sampling: 50, zipkin: { address: "zipkin.tracing:9411" } },
        },
        SERVICE_ACCOUNT: "cart",
        WORKLOAD_NAME: "cart",
      },
    });
    expect(proxy).toMatchObject({ type: "sidecar", clusterId: "eu-1", network: "net-eu", serviceAccount: "cart" });
    expect(proxy.metadata).toMatchObject({ idleTimeout: "30s", dnsCapture: false, http10: false, meshId: "mesh-eu" });
    expect(proxy.metadata.proxyConfig.tracing).toEqual({ sampling: 50 });
  });

  it("may have it as a native sidecar", () => {
    expect(only([podText("native-sidecar")]).proxy).toMatchObject({
      type: "sidecar",
      metadata: { interceptionMode: "TPROXY" },
    });
  });

  it("is a gateway if its container says so, and a sidecar whatever Gateway selects it", () => {
    const servers = [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }];
    const gateway = networking("Gateway", "g", { selector: { app: "ledger" }, servers });
    const types = census([podText("gateway"), podText("native-sidecar"), gateway]).value.map(({ proxy }) => proxy.type);
    expect(types).toEqual(["router", "sidecar"]);
    expect(only([bare("web-0", {}, { app: "ledger" }), gateway]).proxy.type).toBe("router");
  });

  it("gets the annotation that the agent reads, and labels of the environment", () => {
    const { proxy, node } = only([podText("gateway")]);
    expect(proxy.metadata).toMatchObject({
      unprivilegedPod: true,
      proxyConfig: { gatewayTopology: { numTrustedProxies: 2 } },
    });
    expect(proxy.labels).toMatchObject({ app: "ingress", tier: "edge" });
    expect(node.metadata.STATIC_LABELS).toEqual({ tier: "edge" });
  });

  it("says which variables are not known", () => {
    expect(census([podText("gateway")]).diagnostics).toMatchObject([
      {
        code: "proxy-environment-elsewhere",
        severity: "info",
        origin: { file: "input.yaml", line: 2, key: { kind: "Pod", name: "ingress-6c5d9-abcde" } },
        path: ["spec", "containers", 0, "env", "ISTIO_META_ROUTER_MODE"],
      },
    ]);
  });

  it.each([
    ["PROXY_CONFIG", "{tracing: 5}", "error"],
    ["ISTIO_METAJSON_LABELS", "[]", "warning"],
    ["ISTIO_META_DNS_CAPTURE", "sometimes", "warning"],
  ])("counts a %s that cannot be read as absent, and says so", (name, value, severity) => {
    const pod = podText("native-sidecar").replace(
      '    - {name: PROXY_CONFIG, value: "{}"}',
      `    - ${JSON.stringify({ name, value })}`,
    );
    const { value: proxies, diagnostics } = census([pod]);
    expect(proxies[0]?.proxy.metadata).toMatchObject({ interceptionMode: "TPROXY", dnsCapture: false });
    expect(diagnostics.map((one) => [one.code, one.severity, one.path.slice(0, 5)])).toEqual([
      ["proxy-environment-invalid", severity, ["spec", "initContainers", 1, "env", name]],
    ]);
  });

  it("has no proxy of ours if its container is one of another sort", () => {
    const waypoint = podText("gateway").replace("[proxy, router,", "[proxy, waypoint,");
    expect(census([waypoint]).value).toEqual([]);
  });
});

describe("a pod that nobody injected", () => {
  it("has the node that injection would have given it", () => {
    const text = podText("native-sidecar");
    const added = [
      "security.istio.io/tlsMode",
      "service.istio.io/canonical-name",
      "service.istio.io/canonical-revision",
    ] as const;
    // The status annotation stays: without it nobody would say that the pod is to have a proxy.
    expect(only([beforeInjection(text, ...added)]).node).toEqual(only([text]).node);
  });

  it("is named by its Deployment, not by the ReplicaSet between", () => {
    const { node } = only([beforeInjection(podText("gateway").replace("inject.istio.io/templates: gateway", "a: b"))]);
    expect(node.metadata).toMatchObject({
      WORKLOAD_NAME: "ingress",
      OWNER: "kubernetes://apis/apps/v1/namespaces/edge/deployments/ingress",
    });
  });

  it("is a gateway if the gateway's template is for it", () => {
    const { proxy } = only([beforeInjection(podText("gateway"))]);
    expect(proxy.type).toBe("router");
  });

  it.each([
    { labels: {}, name: "web-0", revision: "latest", cluster: "web-0.shop" },
    { labels: { app: "a", version: "v1" }, name: "a", revision: "v1", cluster: "a.shop" },
    {
      labels: { app: "a", "app.kubernetes.io/name": "b", "app.kubernetes.io/version": "2", version: "v1" },
      name: "b",
      revision: "2",
      cluster: "a.shop",
    },
    {
      labels: { app: "a", "service.istio.io/canonical-name": "c", "service.istio.io/canonical-revision": "r" },
      name: "c",
      revision: "r",
      cluster: "a.shop",
    },
  ])("is $name, revision $revision, of $cluster by its labels $labels", ({ labels, name, revision, cluster }) => {
    const { proxy, node } = only([bare("web-0", {}, labels)]);
    const canonical = {
      "service.istio.io/canonical-name": name,
      "service.istio.io/canonical-revision": revision,
    };
    expect(proxy.labels).toMatchObject(canonical);
    expect(node.metadata.LABELS).toMatchObject(canonical);
    expect(node.cluster).toBe(cluster);
  });

  it.each([
    ["{serviceCluster: front}", "front"],
    ["{tracingServiceName: CANONICAL_NAME_ONLY}", "b"],
    ["{tracingServiceName: CANONICAL_NAME_AND_NAMESPACE}", "b.shop"],
    ["{tracingServiceName: APP_LABEL_AND_NAMESPACE}", "a.shop"],
  ])("is called by tracers what %s says", (settings, cluster) => {
    const pod = bare("web-0", { "proxy.istio.io/config": settings }, { app: "a", "app.kubernetes.io/name": "b" });
    expect(only([pod]).node.cluster).toBe(cluster);
  });

  it("has the mesh's id, and the network of its label", () => {
    const pod = bare("web-0", {}, { "topology.istio.io/network": "net-2" });
    expect(only([pod]).node.metadata).toMatchObject({ MESH_ID: "cluster.local", NETWORK: "net-2" });
    expect(only([pod], "trustDomain: td.example").node.metadata.MESH_ID).toBe("td.example");
    expect(only([pod], "defaultConfig: {meshId: m1}").node.metadata.MESH_ID).toBe("m1");
  });

  it.each(["TPROXY", "NONE"] as const)("is intercepted as its annotation says: %s", (mode) => {
    const pod = bare("web-0", { "sidecar.istio.io/interceptionMode": mode });
    expect(only([pod]).proxy.metadata.interceptionMode).toBe(mode);
  });

  it("is intercepted as the mesh says where it says nothing, and a gateway whatever its annotation says", () => {
    const mesh = "defaultConfig: {interceptionMode: TPROXY}";
    expect(only([bare("web-0")], mesh).proxy.metadata.interceptionMode).toBe("TPROXY");
    const gateway = bare("web-0", {
      "inject.istio.io/templates": "gateway",
      "sidecar.istio.io/interceptionMode": "NONE",
    });
    expect(only([gateway]).proxy.metadata.interceptionMode).toBe("REDIRECT");
  });

  it("has the settings of its annotation over the mesh's: fields replace, metadata and headers merge", () => {
    const mesh = `defaultConfig:
      concurrency: 4
      tracing: {sampling: 1, customTags: {a: {literal: {value: b}}}}
      proxyHeaders: {server: {value: mesh}, attemptCount: {disabled: true}}
      proxyMetadata: {ISTIO_META_HTTP10: "1", ISTIO_META_IDLE_TIMEOUT: 10s}`;
    const own = `
      concurrency: 2
      holdApplicationUntilProxyStarts: true
      privateKeyProvider: {cryptomb: {pollDelay: 10ms}}
      proxyHeaders: {server: {value: own}}
      proxyMetadata: {ISTIO_META_IDLE_TIMEOUT: 20s, MINE: "1"}
      proxyStatsMatcher: {inclusionPrefixes: [http]}
      tracing: {sampling: 100}`;
    const { settings, proxy, node } = only([bare("web-0", { "proxy.istio.io/config": own })], mesh);
    expect(settings).toMatchObject({
      concurrency: 2,
      holdApplicationUntilProxyStarts: true,
      privateKeyProvider: { cryptomb: { pollDelay: "0.010s" } },
      proxyHeaders: { server: { value: "own" }, attemptCount: { disabled: true } },
      proxyMetadata: { ISTIO_META_HTTP10: "1", ISTIO_META_IDLE_TIMEOUT: "20s", MINE: "1" },
      proxyStatsMatcher: { inclusionPrefixes: ["http"] },
    });
    expect(settings.tracing).toEqual({ sampling: 100 });
    expect(proxy.metadata).toMatchObject({ http10: true, idleTimeout: "20s" });
    expect(node.metadata).not.toHaveProperty("MINE");
  });

  it("reports to the addresses of its annotations", () => {
    const pod = bare("web-0", {
      "proxy.istio.io/config": "{statusPort: 1, discoveryAddress: 'a:1'}",
      "sidecar.istio.io/discoveryAddress": "istiod-canary.istio-system.svc:15012",
      "status.sidecar.istio.io/port": "15099",
    });
    expect(only([pod]).node.metadata.PROXY_CONFIG).toMatchObject({
      discoveryAddress: "istiod-canary.istio-system.svc:15012",
      statusPort: 15099,
    });
  });
});

describe("an annotation that cannot be read", () => {
  it.each([
    ["sidecar.istio.io/interceptionMode", "tproxy", [], /none of REDIRECT, TPROXY and NONE/],
    ["status.sidecar.istio.io/port", "70000", [], /is no port/],
    ["proxy.istio.io/config", "{", [], /./],
    ["proxy.istio.io/config", "a text", [], /object/],
    ["proxy.istio.io/config", "tracing: {sampling: much}", ["tracing", "sampling"], /./],
    ["proxy.istio.io/config", "drainDuration: 0.5s", ["drainDuration"], /whole number of seconds/],
    ["proxy.istio.io/config", "interceptionMode: SOME", ["interceptionMode"], /./],
  ])("counts as absent, and is told with its place: %s: %s", (name, value, path, message) => {
    const { value: proxies, diagnostics } = census([bare("web-0", { [name]: value })]);
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics).toMatchObject([
      {
        code: "pod-annotation-invalid",
        severity: "error",
        origin: { file: "input.yaml", line: 1, key: { kind: "Pod", name: "web-0", namespace: "shop" } },
        path: ["metadata", "annotations", name, ...path],
        message: expect.stringMatching(message),
      },
    ]);
    expect(proxies[0]?.node).toEqual(only([bare("web-0")]).node);
  });

  it("may have a field that nobody knows, which is ignored with a warning", () => {
    const { value, diagnostics } = census([
      bare("web-0", { "proxy.istio.io/config": "{concurency: 1, statusPort: 2}" }),
    ]);
    expect(value[0]?.settings.statusPort).toBe(2);
    expect(diagnostics).toMatchObject([
      { code: "unknown-field", severity: "warning", hint: 'did you mean "concurrency"?' },
    ]);
  });

  it("costs its own pod nothing else, and its neighbours nothing", () => {
    const list = (of: string) => `[${Array(20).fill(of).join(", ")}]`;
    const text = `a: &a ${list("x")}\nb: &b ${list("*a")}\nc: &c ${list("*b")}\nd: ${list("*c")}`;
    const { value, diagnostics } = census([bare("web-0", { "proxy.istio.io/config": text }), bare("web-1")]);
    expect(value).toHaveLength(2);
    expect(diagnostics.map(({ code }) => code)).toContain("pod-annotation-invalid");
  });
});
