import { randomLocalitySetting } from "./destination-rules.ts";
import type { Dice } from "./dice.ts";
import { duration, providerNames } from "./vocabulary.ts";

const inside = { service: "a.ns1.svc.cluster.local", port: 80 } as const;
const outside = { service: "api.example.com", port: 443 } as const;

/** MeshConfig with all providers that other objects name, and any of the settings that change answers. */
export function randomMeshConfig(dice: Dice): object {
  const where = () => dice.pick([inside, outside, { service: "ns1/a.ns1.svc.cluster.local", port: 80 }]);
  return {
    ...dice.maybe(30, () => ({ outboundTrafficPolicy: { mode: dice.pick(["REGISTRY_ONLY", "ALLOW_ANY"]) } })),
    ...dice.maybe(15, () => ({ inboundTrafficPolicy: { mode: dice.pick(["PASSTHROUGH", "LOCALHOST"]) } })),
    ...dice.maybe(30, () => accessLog(dice)),
    ...dice.maybe(15, () => ({ connectTimeout: duration(dice) })),
    ...dice.maybe(15, () => ({ protocolDetectionTimeout: dice.pick(["0s", "0.1s", "5s"]) })),
    ...dice.maybe(15, () => ({ tcpKeepalive: { time: "10s", interval: "10s", probes: 9 } })),
    ...dice.maybe(15, () => ({ h2UpgradePolicy: "UPGRADE" })),
    ...dice.maybe(15, () => ({ proxyHttpPort: 15007 })),
    ...dice.maybe(15, () => ({ enableAutoMtls: false })),
    ...dice.maybe(15, () => ({ trustDomain: "td.example.com", trustDomainAliases: ["old.example.com"] })),
    ...dice.maybe(15, () => ({ inboundClusterStatName: "in.%SERVICE%_%SERVICE_PORT%" })),
    ...dice.maybe(15, () => ({ outboundClusterStatName: "out.%SERVICE_FQDN%.%SUBSET_NAME%" })),
    ...dice.maybe(20, () => ({ localityLbSetting: randomLocalitySetting(dice) })),
    ...dice.maybe(10, () => ({ ingressControllerMode: dice.pick(["OFF", "DEFAULT", "STRICT"]) })),
    ...dice.maybe(5, () => ({ ingressSelector: dice.pick(["ingressgateway", "other"]), ingressService: "a" })),
    ...dice.maybe(5, () => ({ ingressClass: "own" })),
    ...dice.maybe(20, () => ({
      pathNormalization: { normalization: dice.pick(["NONE", "BASE", "MERGE_SLASHES", "DECODE_AND_MERGE_SLASHES"]) },
    })),
    ...dice.maybe(10, () => ({ defaultHttpRetryPolicy: { attempts: dice.int(3), retryOn: "5xx" } })),
    ...dice.maybe(10, () => ({
      meshMTLS: dice.pick([
        { minProtocolVersion: "TLSV1_3" },
        { minProtocolVersion: "TLSV1_2", ecdhCurves: ["P-256"] },
        { cipherSuites: ["ECDHE-RSA-AES256-GCM-SHA384"] },
      ]),
    })),
    ...dice.maybe(8, () => ({ enableTracing: false })),
    ...dice.maybe(8, () => ({ proxyListenPort: 15011, proxyInboundListenPort: 15016 })),
    ...dice.maybe(8, () => ({ enablePrometheusMerge: false })),
    ...dice.maybe(5, () => ({ rootNamespace: "ns1" })),
    ...dice.maybe(8, () => ({ dnsRefreshRate: "30s" })),
    ...dice.maybe(10, () => ({
      tlsDefaults: { ecdhCurves: ["P-256"], cipherSuites: ["ECDHE-RSA-AES128-GCM-SHA256"] },
    })),
    ...dice.maybe(10, () => ({
      serviceSettings: [{ settings: { clusterLocal: true }, hosts: ["*.ns1.svc.cluster.local"] }],
    })),
    ...dice.maybe(30, () => ({ defaultProviders: defaultProviders(dice) })),
    ...dice.maybe(40, () => ({ defaultConfig: randomProxySettings(dice) })),
    extensionProviders: extensionProviders(dice, where),
  };
}

const accessLog = (dice: Dice): object => ({
  accessLogFile: "/dev/stdout",
  ...dice.pick([
    {},
    { accessLogFormat: "%PROTOCOL% %REQ(:PATH)%\n" },
    { accessLogEncoding: "JSON", accessLogFormat: '{"a":"%PROTOCOL%"}' },
  ]),
  ...dice.maybe(20, () => ({ disableEnvoyListenerLog: true })),
  ...dice.maybe(15, () => ({ enableEnvoyAccessLogService: true })),
});

const defaultProviders = (dice: Dice): object => ({
  ...dice.maybe(50, () => ({ tracing: [dice.pick(providerNames.tracing)] })),
  ...dice.maybe(50, () => ({ accessLogging: [dice.pick(providerNames.accessLogs)] })),
  ...dice.maybe(50, () => ({ metrics: ["prometheus"] })),
});

/** What the proxies of a mesh, or one of them, are told. */
export const randomProxySettings = (dice: Dice): object => ({
  ...dice.maybe(40, () => ({
    tracing: {
      ...dice.pick([{}, { zipkin: { address: "zipkin.istio-system:9411" } }, { datadog: { address: "dd:8126" } }]),
      ...dice.maybe(50, () => ({ sampling: 42.5 })),
      ...dice.maybe(30, () => ({ maxPathTagLength: 100 })),
      ...dice.maybe(30, () => ({ customTags: { tag: { literal: { value: "x" } } } })),
      ...dice.maybe(20, () => ({ enableIstioTags: false })),
    },
  })),
  ...dice.maybe(30, () => ({
    gatewayTopology: dice.pick([
      { numTrustedProxies: 2 },
      {
        forwardClientCertDetails: dice.pick([
          "UNDEFINED",
          "SANITIZE",
          "FORWARD_ONLY",
          "APPEND_FORWARD",
          "SANITIZE_SET",
          "ALWAYS_FORWARD_ONLY",
        ]),
      },
      { proxyProtocol: {} },
      { proxyProtocol: {}, numTrustedProxies: 1, forwardClientCertDetails: "SANITIZE_SET" },
    ]),
  })),
  ...dice.maybe(30, () => ({
    proxyHeaders: {
      ...dice.maybe(30, () => ({ forwardedClientCert: dice.pick(["SANITIZE", "FORWARD_ONLY", "APPEND_FORWARD"]) })),
      ...dice.maybe(20, () => ({
        setCurrentClientCertDetails: { subject: dice.chance(50), uri: dice.chance(50), cert: true, chain: true },
      })),
      ...dice.maybe(30, () => ({ server: dice.pick([{ disabled: true }, { value: "me" }]) })),
      ...dice.maybe(30, () => ({ requestId: { disabled: true } })),
      ...dice.maybe(30, () => ({ attemptCount: { disabled: true } })),
      ...dice.maybe(30, () => ({ envoyDebugHeaders: { disabled: true } })),
      ...dice.maybe(30, () => ({ metadataExchangeHeaders: { mode: dice.pick(["IN_MESH", "UNDEFINED"]) } })),
      ...dice.maybe(20, () => ({ xForwardedHost: { enabled: true }, xForwardedPort: { enabled: true } })),
      ...dice.maybe(30, () => ({ preserveHttp1HeaderCase: true })),
    },
  })),
  ...dice.maybe(10, () => ({ statusPort: 15099 })),
  ...dice.maybe(10, () => ({ proxyMetadata: { ISTIO_META_HTTP10: "1" } })),
  ...dice.maybe(10, () => ({ holdApplicationUntilProxyStarts: true, concurrency: 2 })),
  ...dice.maybe(20, () => ({
    privateKeyProvider: undefined,
    interceptionMode: dice.pick(["REDIRECT", "TPROXY", "NONE"]),
  })),
});

function extensionProviders(dice: Dice, where: () => object): readonly object[] {
  return [
    { name: "prometheus", prometheus: {} },
    { name: "stackdriver", stackdriver: {} },
    { name: "envoy", envoyFileAccessLog: { path: "/dev/stdout" } },
    {
      name: "authz-http",
      envoyExtAuthzHttp: {
        ...where(),
        ...dice.maybe(50, () => ({ pathPrefix: "/check", timeout: "2s" })),
        ...dice.maybe(40, () => ({ failOpen: true, statusOnError: "503" })),
        ...dice.maybe(40, () => ({ includeRequestHeadersInCheck: ["x-a", "x-b-*", "*-c"] })),
        ...dice.maybe(40, () => ({ includeAdditionalHeadersInCheck: { "x-from": "mesh" } })),
        ...dice.maybe(40, () => ({ includeRequestBodyInCheck: { maxRequestBytes: 1024, allowPartialMessage: true } })),
        ...dice.maybe(40, () => ({ headersToUpstreamOnAllow: ["x-u"], headersToDownstreamOnDeny: ["location"] })),
        ...dice.maybe(20, () => ({ headersToDownstreamOnAllow: ["x-d*", "*-d"] })),
        ...dice.maybe(20, () => ({ clearRouteCache: true })),
      },
    },
    {
      name: "authz-grpc",
      envoyExtAuthzGrpc: {
        ...where(),
        ...dice.maybe(40, () => ({ timeout: "2s", failOpen: true })),
        ...dice.maybe(20, () => ({ statusOnError: "401", clearRouteCache: true })),
        ...dice.maybe(20, () => ({ includeRequestBodyInCheck: { maxRequestBytes: 4096, packAsBytes: true } })),
      },
    },
    {
      name: "zipkin",
      zipkin: {
        ...where(),
        ...dice.maybe(40, () => ({ maxTagLength: 32, enable64bitTraceId: true })),
        ...dice.maybe(20, () => ({ path: "/spans", timeout: "1s", headers: [{ name: "x-z", value: "v" }] })),
        ...dice.maybe(20, () => ({ traceContextOption: "USE_B3_WITH_W3C_PROPAGATION" })),
      },
    },
    {
      name: "otel-grpc",
      opentelemetry: {
        ...where(),
        ...dice.maybe(40, () => ({ resourceDetectors: dice.pick([{ environment: {} }, { dynatrace: {} }]) })),
        ...dice.maybe(20, () => ({ serviceAttributeEnrichment: "OTEL_SEMANTIC_CONVENTIONS", maxTagLength: 64 })),
        ...dice.maybe(20, () => ({ grpc: { timeout: "2s", initialMetadata: [{ name: "x-m", value: "v" }] } })),
      },
    },
    {
      name: "otel-http",
      opentelemetry: {
        ...where(),
        http: { path: "/v1/traces", timeout: "1s", headers: [{ name: "x-key", value: "v" }] },
        ...dice.maybe(20, () => ({
          dynatraceSampler: {
            tenant: "t",
            clusterId: 7,
            ...dice.maybe(50, () => ({ rootSpansPerMinute: 50 })),
            ...dice.maybe(50, () => ({ httpService: { ...where(), http: { path: "/sample", timeout: "2s" } } })),
          },
        })),
      },
    },
    { name: "datadog", datadog: { ...where(), ...dice.maybe(30, () => ({ maxTagLength: 99 })) } },
    { name: "skywalking", skywalking: { ...where(), ...dice.maybe(40, () => ({ accessToken: "token" })) } },
    {
      name: "file-text",
      envoyFileAccessLog: {
        path: "/dev/stderr",
        logFormat: { text: dice.pick(["%PROTOCOL%", "%REQ_WITHOUT_QUERY(:PATH)% %METADATA(ROUTE:a)%\n", ""]) },
        ...dice.maybe(30, () => ({ omitEmptyValues: true })),
      },
    },
    {
      name: "file-json",
      envoyFileAccessLog: { path: "/dev/stdout", logFormat: { labels: { a: "%PROTOCOL%", b: { c: "%REQ(x)%" } } } },
    },
    {
      name: "als-http",
      envoyHttpAls: {
        ...where(),
        ...dice.maybe(50, () => ({ logName: "http", additionalRequestHeadersToLog: ["x-one"] })),
        ...dice.maybe(20, () => ({
          filterStateObjectsToLog: ["fs"],
          additionalResponseHeadersToLog: ["x-r"],
          additionalResponseTrailersToLog: ["x-t"],
        })),
      },
    },
    {
      name: "als-tcp",
      envoyTcpAls: {
        ...where(),
        ...dice.maybe(50, () => ({ logName: "tcp" })),
        ...dice.maybe(20, () => ({ filterStateObjectsToLog: ["fs"] })),
      },
    },
    {
      name: "als-otel",
      envoyOtelAls: {
        ...where(),
        ...dice.maybe(60, () => ({ logFormat: { text: "%PROTOCOL%", labels: { a: "%PROTOCOL%" } } })),
        ...dice.maybe(20, () => ({ logName: "otel" })),
      },
    },
  ];
}
