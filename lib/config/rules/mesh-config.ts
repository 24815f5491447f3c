import { durationMs } from "../../base/duration.ts";
import { error, type Finding, type Path, warning } from "../finding.ts";
import type { ExtensionProvider, MeshConfig, ProxyConfig, ServiceEntryVisibility } from "../kinds/mesh-config.ts";
import type { MeshNetworks } from "../kinds/mesh-networks.ts";
import { isIpAddress, isIpOrCidr } from "../values/ip-address.ts";
import { connectionSettingsRules } from "./connection-settings.ts";
import { isDns1123Label, isFqdn, isHostPort } from "./names.ts";
import { retryRules } from "./routes/retry.ts";
import { labelSelectorRules } from "./selectors.ts";
import { clientTlsRules } from "./tls/client-tls.ts";
import { curveRules } from "./tls/curves.ts";
import { localityRules } from "./traffic/load-balancer.ts";
import { connectionPoolRules, outlierDetectionRules } from "./traffic/traffic-policy.ts";
import { duplicates, each, portRules, wildcardDomainRules } from "./values.ts";

const required = (path: Path) => error(path, "is required", "", "missing-field");

/** Rules of the merged settings. @see docs/how-istio-does-it/kind-rules.md#meshconfig */
export function* meshConfigRules(mesh: MeshConfig): Generator<Finding> {
  yield* portRules(mesh.proxyListenPort, ["proxyListenPort"]);
  const connectMs = durationMs(mesh.connectTimeout);
  if (connectMs < 1 || connectMs > 3_600_000) {
    yield error(["connectTimeout"], `${mesh.connectTimeout} is not between 1ms and 1h`);
  }
  if (!Number.isInteger(durationMs(mesh.protocolDetectionTimeout))) {
    yield error(["protocolDetectionTimeout"], `${mesh.protocolDetectionTimeout} is not a whole number of milliseconds`);
  }
  yield* proxySettingsRules(mesh.defaultConfig, ["defaultConfig"]);
  if (mesh.enableEnvoyAccessLogService && !mesh.defaultConfig.envoyAccessLogService?.address) {
    yield warning(
      ["enableEnvoyAccessLogService"],
      "has no service to log to: the lines of a proxy that has none are lost",
      "set defaultConfig.envoyAccessLogService.address",
    );
  }
  // Mesh-wide failover applies where a rule has outlier detection, so it needs none here.
  yield* localityRules(mesh.localityLbSetting, ["localityLbSetting"], true);
  yield* each(mesh.serviceSettings, ["serviceSettings"], (settings, path) =>
    each(settings.hosts, [...path, "hosts"], wildcardDomainRules),
  );
  yield* trustDomainRules(mesh.trustDomain, ["trustDomain"]);
  yield* each(mesh.trustDomainAliases, ["trustDomainAliases"], trustDomainRules);
  if (mesh.meshMTLS?.ecdhCurves !== undefined)
    yield error(["meshMTLS", "ecdhCurves"], "is not supported", "use tlsDefaults");
  yield* curveRules(mesh.tlsDefaults?.ecdhCurves ?? [], ["tlsDefaults", "ecdhCurves"]);
  yield* each(mesh.extensionProviders, ["extensionProviders"], providerRules);
  for (const [index, name] of duplicates(mesh.extensionProviders.map((provider) => provider.name))) {
    yield warning(["extensionProviders", index, "name"], `${JSON.stringify(name)} is given twice`);
  }
  yield* connectionPoolRules(mesh.defaultTrafficPolicy?.connectionPool, ["defaultTrafficPolicy", "connectionPool"]);
  yield* outlierDetectionRules(mesh.defaultTrafficPolicy?.outlierDetection, [
    "defaultTrafficPolicy",
    "outlierDetection",
  ]);
  yield* retryRules(mesh.defaultHttpRetryPolicy, ["defaultHttpRetryPolicy"]);
  yield* entryVisibilityRules(mesh.serviceEntryVisibility, ["serviceEntryVisibility"]);
  yield* retryRules(mesh.defaultInboundHttpRetryPolicy, ["defaultInboundHttpRetryPolicy"]);
  const { attempts = 0, backoff } = mesh.defaultInboundHttpRetryPolicy ?? {};
  if (attempts === 0 && backoff !== undefined) {
    const message = "has no meaning where attempts are 0, which switches retries off";
    yield error(["defaultInboundHttpRetryPolicy", "backoff"], message, "state the attempts", "conflicting-fields");
  }
  yield* outboundTlsRules(mesh);
}

/** A credential is for proxies that somebody selects: without it connections would be plain text. */
function* outboundTlsRules({ outboundTrafficPolicy: { tls }, rootNamespace }: MeshConfig): Generator<Finding> {
  const path = ["outboundTrafficPolicy", "tls"];
  yield* clientTlsRules(tls, path, rootNamespace);
  if (tls?.mode !== "SIMPLE" && tls?.mode !== "MUTUAL") return;
  for (const name of ["credentialName", "caCertCredentialName"] as const) {
    if (tls[name])
      yield error([...path, name], "is not fetched by sidecars of a whole mesh", "name files of the proxies");
  }
}

/** Rules of the settings of proxies, the mesh's or a proxy's own, merged with the defaults. */
export function* proxySettingsRules(proxy: ProxyConfig, path: Path): Generator<Finding> {
  for (const name of ["configPath", "binaryPath", "discoveryAddress"] as const) {
    if (!proxy[name]) yield required([...path, name]);
  }
  if (!proxy.serviceCluster && proxy.tracingServiceName === undefined) yield required([...path, "serviceCluster"]);
  for (const name of ["discoveryAddress", "statsdUdpAddress", "envoyMetricsServiceAddress"] as const) {
    yield* hostPortRules(proxy[name], [...path, name]);
  }
  for (const name of ["envoyMetricsService", "envoyAccessLogService"] as const) {
    yield* hostPortRules(proxy[name]?.address, [...path, name, "address"]);
  }
  const drainMs = durationMs(proxy.drainDuration ?? "0s");
  if (drainMs < 1 || drainMs % 1000 !== 0) {
    yield error([...path, "drainDuration"], `${proxy.drainDuration ?? "0s"} is not a whole number of seconds above 0`);
  }
  yield* portRules(proxy.proxyAdminPort, [...path, "proxyAdminPort"]);
  yield* portRules(proxy.statusPort, [...path, "statusPort"]);
  if (proxy.controlPlaneAuthPolicy === "INHERIT")
    yield error([...path, "controlPlaneAuthPolicy"], "must be NONE or MUTUAL_TLS");
  const { tracing, privateKeyProvider, connectionSettings } = proxy;
  if (tracing !== undefined) {
    const at = [...path, "tracing"];
    for (const name of ["zipkin", "datadog", "lightstep"] as const) {
      const tracer = tracing[name];
      if (tracer === undefined) continue;
      if (!tracer.address) yield required([...at, name, "address"]);
      yield* hostPortRules(tracer.address, [...at, name, "address"]);
    }
    if (tracing.lightstep !== undefined && !tracing.lightstep.accessToken)
      yield required([...at, "lightstep", "accessToken"]);
    yield* clientTlsRules(tracing.tlsSettings, [...at, "tlsSettings"], "");
  }
  if (privateKeyProvider !== undefined) {
    const at = [...path, "privateKeyProvider"];
    const provider = privateKeyProvider.cryptomb ?? privateKeyProvider.qat;
    if (provider === undefined) yield required(at);
    else if (durationMs(provider.pollDelay ?? "0s") === 0) yield required([...at, "pollDelay"]);
  }
  if (connectionSettings !== undefined)
    yield* connectionSettingsRules(connectionSettings, [...path, "connectionSettings"]);
  if (proxy.proxyMetadata.ISTIO_META_DNS_AUTO_ALLOCATE !== undefined) {
    const hint = "addresses are allocated by the control plane";
    yield warning([...path, "proxyMetadata", "ISTIO_META_DNS_AUTO_ALLOCATE"], "is deprecated", hint);
  }
}

function* entryVisibilityRules(setting: ServiceEntryVisibility | undefined, path: Path): Generator<Finding> {
  yield* each(setting?.policies, [...path, "policies"], ({ matchingRules }, policy) =>
    each(matchingRules, [...policy, "matchingRules"], function* ({ namespaceSelector }, at) {
      if (namespaceSelector === undefined) {
        yield warning(at, "selects by nothing, so its policy matches no namespace", "give namespaceSelector");
      } else yield* labelSelectorRules(namespaceSelector, [...at, "namespaceSelector"]);
    }),
  );
}

function* hostPortRules(address: string | undefined, path: Path): Generator<Finding> {
  if (address === undefined || address === "" || address.startsWith("$(HOST_IP)")) return;
  if (!isHostPort(address)) yield error(path, `${JSON.stringify(address)} is not of the form host:port`);
}

function* trustDomainRules(domain: string, path: Path): Generator<Finding> {
  const labels = domain.endsWith(".") ? domain.slice(0, -1).split(".") : domain.split(".");
  if (domain === "" || !labels.every(isDns1123Label))
    yield error(path, `${JSON.stringify(domain)} is not a trust domain`);
}

/** Istio only logs what is wrong with a provider, so these are warnings. */
function* providerRules(provider: ExtensionProvider, path: Path): Generator<Finding> {
  const { name, ...kinds } = provider;
  if (name === "") yield warning([...path, "name"], "is required", "", "missing-field");
  const given = Object.entries(kinds);
  if (given.length !== 1) yield warning(path, "needs exactly one kind of provider", "", "missing-field");
  for (const [kind, settings] of given) {
    const at = [...path, kind];
    if (!("service" in settings)) continue;
    const host = settings.service.split("/").at(-1) ?? "";
    if (!isFqdn(host) && !isIpAddress(host))
      yield warning([...at, "service"], `${JSON.stringify(settings.service)} names no service`);
    for (const finding of portRules(settings.port, [...at, "port"])) yield { ...finding, severity: "warning" };
  }
  const http = provider.envoyExtAuthzHttp;
  if (http?.pathPrefix !== undefined && !http.pathPrefix.startsWith("/")) {
    yield warning([...path, "envoyExtAuthzHttp", "pathPrefix"], "must begin with a slash");
  }
  if (provider.opentelemetry?.http !== undefined && provider.opentelemetry.grpc !== undefined) {
    yield warning([...path, "opentelemetry"], "http and grpc exclude each other", "", "conflicting-fields");
  }
}

/** @see docs/how-istio-does-it/kind-rules.md#meshconfig */
export function* meshNetworksRules(spec: MeshNetworks): Generator<Finding> {
  for (const [name, network] of Object.entries(spec.networks)) {
    const path = ["networks", name];
    yield* each(network.endpoints, [...path, "endpoints"], function* ({ fromCidr, fromRegistry }, at) {
      if (fromCidr !== undefined && !isIpOrCidr(fromCidr)) {
        yield error([...at, "fromCidr"], `${JSON.stringify(fromCidr)} is no block of addresses`);
      }
      if (fromRegistry !== undefined && !isDns1123Label(fromRegistry)) {
        yield error([...at, "fromRegistry"], `${JSON.stringify(fromRegistry)} is not a DNS label`);
      }
      if (fromCidr === undefined && fromRegistry === undefined) yield required([...at, "fromRegistry"]);
    });
    yield* each(network.gateways, [...path, "gateways"], function* (gateway, at) {
      const { registryServiceName, address, port } = gateway;
      if (registryServiceName !== undefined && !isFqdn(registryServiceName)) {
        yield error([...at, "registryServiceName"], `${JSON.stringify(registryServiceName)} is not a domain name`);
      }
      if (address !== undefined && !isIpAddress(address) && !isFqdn(address)) {
        yield error([...at, "address"], `${JSON.stringify(address)} is neither an IP address nor a domain name`);
      }
      if (registryServiceName === undefined && address === undefined) yield required([...at, "address"]);
      yield* portRules(port, [...at, "port"]);
    });
  }
}
