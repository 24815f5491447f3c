/**
 * What a patch of an EnvoyFilter may write without protecting anything: everything else counts as protection where the patch is refused. The
 * lists are documented in docs/policies.md, and a test compares both.
 */

import { fieldsOf, isFields, textOf } from "../../base/untyped.ts";
import { camelFieldName } from "../read-spec.ts";

type Check = (value: unknown) => boolean;

const any: Check = () => true;
const each =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) ? value.every(check) : check(value);

/** Fields of which each has a harmless value; a name that is not among them is one that is not known to be harmless. */
function only(names: string, special: Readonly<Record<string, Check>> = {}): Check {
  const known = new Map<string, Check>([
    ...names.split(" ").map((name) => [name, any] as const),
    ...Object.entries(special),
  ]);
  return (value) =>
    isFields(value) &&
    Object.entries(value).every(([name, member]) => known.get(camelFieldName(name))?.(member) === true);
}

/** Filters that answer for no request, decide about none, and write nothing that policies read. */
const harmlessFilters: readonly string[] = [
  ..."buffer.v3.Buffer compressor.v3.Compressor decompressor.v3.Decompressor cors.v3.Cors grpc_stats.v3.FilterConfig".split(
    " ",
  ),
  ..."grpc_web.v3.GrpcWeb grpc_json_transcoder.v3.GrpcJsonTranscoder grpc_http1_bridge.v3.Config".split(" "),
  ..."on_demand.v3.OnDemand router.v3.Router stateful_session.v3.StatefulSession tap.v3.Tap".split(" "),
].map((name) => `envoy.extensions.filters.http.${name}`);

/** The same of listeners, and of Istio's own filters; where logs and spans are written to. */
const otherTypes: readonly string[] = [
  "envoy.extensions.filters.listener.http_inspector.v3.HttpInspector",
  "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector",
  "istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig",
  "io.istio.http.peer_metadata.Config",
  "envoy.tcp.metadataexchange.config.MetadataExchange",
  "stats.PluginConfig",
  ..."file.v3.FileAccessLog stream.v3.StdoutAccessLog stream.v3.StderrAccessLog grpc.v3.HttpGrpcAccessLogConfig"
    .split(" ")
    .map((name) => `envoy.extensions.access_loggers.${name}`),
  "envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig",
  "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig",
  ..."DatadogConfig LightstepConfig OpenCensusConfig OpenTelemetryConfig SkyWalkingConfig ZipkinConfig"
    .split(" ")
    .map((name) => `envoy.config.trace.v3.${name}`),
];

/** Messages that are harmless whatever they say, by their names. */
export const harmlessExtensions: readonly string[] = [...harmlessFilters, ...otherTypes];
const harmlessTypes: ReadonlySet<string> = new Set(harmlessExtensions);

/** Names by which filters without settings are found: `envoy.filters.http.buffer`. */
const harmlessNames: ReadonlySet<string> = new Set(
  [...harmlessTypes].map((type) => type.replace(/^envoy\.extensions\.(filters\.\w+\.\w+)\..*$/, "envoy.$1")),
);

/** Plugins of Istio's releases up to 1.12, which Envoy has built in. */
const istioPlugins: ReadonlySet<string> = new Set(["envoy.wasm.stats", "envoy.wasm.metadata_exchange"]);

function isIstioPlugin(value: unknown): boolean {
  const config = fieldsOf(fieldsOf(value).config);
  const { vm_config, vmConfig = vm_config } = config;
  const { runtime, code } = fieldsOf(vmConfig);
  const name =
    textOf(fieldsOf(fieldsOf(code).local).inline_string) || textOf(fieldsOf(fieldsOf(code).local).inlineString);
  return runtime === "envoy.wasm.runtime.null" && istioPlugins.has(name);
}

const times = "idleTimeout maxConnectionDuration maxStreamDuration maxRequestsPerConnection";
const commonHttp = only(`${times} maxHeadersCount`);
const config: Check = (value) => isHarmlessConfig(value);
const accessLog = each(only("name filter", { typedConfig: config }));
const tracing = only(
  "clientSampling randomSampling overallSampling verbose maxPathTagLength customTags spawnUpstreamSpan",
  {
    provider: only("name", { typedConfig: config }),
  },
);

const messages: ReadonlyMap<string, Check> = new Map([
  [
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    only(
      "statPrefix serverName serverHeaderTransformation streamIdleTimeout requestTimeout drainTimeout delayedCloseTimeout addUserAgent " +
        "generateRequestId preserveExternalRequestId alwaysSetRequestIdInResponse requestIdExtension proxy100Continue upgradeConfigs " +
        "http2ProtocolOptions accessLogOptions accessLogFlushInterval",
      {
        accessLog,
        tracing,
        commonHttpProtocolOptions: commonHttp,
        httpFilters: each((filter) => isHarmlessFilter(filter)),
      },
    ),
  ],
  [
    "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
    only("statPrefix idleTimeout maxConnectAttempts accessLogOptions maxDownstreamConnectionDuration", { accessLog }),
  ],
  [
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
    only("explicitHttpConfig useDownstreamProtocolConfig autoConfig", { commonHttpProtocolOptions: commonHttp }),
  ],
  ["envoy.extensions.filters.http.wasm.v3.Wasm", isIstioPlugin],
]);

/** Whether an Any holds a message that is harmless. */
function isHarmlessConfig(value: unknown): boolean {
  const { "@type": url, ...fields } = fieldsOf(value);
  const type = messageName(url);
  const { type_url, typeUrl = type_url, value: inner } = fields;
  if (type.endsWith(".TypedStruct")) return isHarmlessMessage(messageName(typeUrl), inner);
  return isHarmlessMessage(type, fields);
}

const messageName = (url: unknown): string => textOf(url).replace(/^.*\//, "");
const isHarmlessMessage = (type: string, value: unknown): boolean =>
  harmlessTypes.has(type) || messages.get(type)?.(value ?? {}) === true;

const filter = only("name isOptional disabled filterDisabled", { typedConfig: config });

/** Whether a filter is harmless. Where it has no settings its name says what it is. */
export function isHarmlessFilter(value: unknown): boolean {
  const { name, typed_config, typedConfig = typed_config } = fieldsOf(value);
  return filter(value) && (typedConfig !== undefined || harmlessNames.has(textOf(name)));
}

/** Fields of a filter that is merged into one of the same name: without settings nothing is. */
const mergedFilter: Check = filter;

const headers = "requestHeadersToAdd responseHeadersToAdd responseHeadersToRemove metadata name statPrefix";
const route = only(`${headers} decorator`, {
  tracing,
  route: only(
    "timeout idleTimeout maxStreamDuration retryPolicy hashPolicy priority autoHostRewrite hostRewriteLiteral",
  ),
});

/** Fields that a patch may merge, by what it applies to. */
const merged: Readonly<Record<string, Check>> = {
  HTTP_FILTER: mergedFilter,
  NETWORK_FILTER: mergedFilter,
  LISTENER_FILTER: mergedFilter,
  EXTENSION_CONFIG: mergedFilter,
  LISTENER: only(
    "name statPrefix perConnectionBufferLimitBytes socketOptions tcpBacklogSize listenerFiltersTimeout connectionBalanceConfig " +
      "enableReusePort drainType metadata bypassOverloadManager",
    { accessLog },
  ),
  FILTER_CHAIN: only("name metadata"),
  ROUTE_CONFIGURATION: only(`${headers} maxDirectResponseBodySizeBytes`),
  VIRTUAL_HOST: only(`${headers} retryPolicy includeRequestAttemptCount includeAttemptCountInResponse`),
  HTTP_ROUTE: route,
};

const cluster = only(
  "name type connectTimeout perConnectionBufferLimitBytes lbPolicy loadBalancingPolicy commonLbConfig ringHashLbConfig maglevLbConfig " +
    "leastRequestLbConfig roundRobinLbConfig circuitBreakers outlierDetection healthChecks upstreamConnectionOptions altStatName " +
    "http2ProtocolOptions httpProtocolOptions commonHttpProtocolOptions dnsLookupFamily dnsRefreshRate respectDnsTtl metadata " +
    "trackClusterStats preconnectPolicy maxRequestsPerConnection loadAssignment edsClusterConfig ignoreHealthOnHostRemoval " +
    "closeConnectionsOnHostHealthFailure slowStartConfig",
  {
    typedExtensionProtocolOptions: (value) => isFields(value) && Object.values(value).every(isHarmlessConfig),
  },
);

/** Places whose filters count by what they are. */
const ofFilters: ReadonlySet<string> = new Set([
  "HTTP_FILTER",
  "NETWORK_FILTER",
  "LISTENER_FILTER",
  "EXTENSION_CONFIG",
]);

/**
 * Whether a patch protects nothing, whatever is wrong with it: its value has nothing but fields and extensions that are known to be
 * harmless.
 *
 * @param written as written, be it misspelt
 */
export function isHarmlessPatch(written: unknown): boolean {
  const { applyTo: target, operation, value, isWhole } = partsOf(written);
  if (!isWhole) return false;
  // Proxies read no bootstrap of ours.
  if (target === "BOOTSTRAP") return true;
  if (operation === "REMOVE") return ofFilters.has(target);
  if (target === "CLUSTER") return cluster(value ?? {});
  const isMerge = operation === "MERGE" || operation === "MERGE_AND_REPLACE_LIST";
  if (isMerge && Object.hasOwn(merged, target)) return merged[target]?.(value ?? {}) === true;
  return isHarmlessFilter(value) && (ofFilters.has(target) || !Object.hasOwn(merged, target));
}

/** Whether a patch of clusters does nothing that protects but to give them TLS. */
export function isAboutTls(written: unknown): boolean {
  const { applyTo, value, isWhole } = partsOf(written);
  if (!isWhole || applyTo !== "CLUSTER" || !isFields(value)) return false;
  const isTls = ([name]: readonly [string, unknown]) => tlsOfClusters.has(camelFieldName(name));
  const entries = Object.entries(value);
  return entries.some(isTls) && cluster(Object.fromEntries(entries.filter((entry) => !isTls(entry))));
}

const tlsOfClusters: ReadonlySet<string> = new Set(["transportSocket", "transportSocketMatches"]);

/** @returns `isWhole` false where what is written may say more than is understood of it */
function partsOf(written: unknown) {
  const { apply_to, applyTo = apply_to, match: _match, patch, ...others } = fieldsOf(written);
  const { operation, value, filterClass: _class, filter_class: _written, ...besides } = fieldsOf(patch);
  const mayBeElsewhere = [...Object.values(others), ...Object.values(besides)].some(
    (member) => typeof member === "object",
  );
  const isWhole = isFields(written) && isFields(patch) && !mayBeElsewhere;
  return { applyTo: textOf(applyTo), operation: textOf(operation), value, isWhole };
}
