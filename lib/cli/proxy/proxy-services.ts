import type { BootstrapJson } from "../../../gen/envoy/config/bootstrap/v3/bootstrap_pb.ts";
import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { TransportSocketJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type { UpstreamTlsContextJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import type { BootstrapServices } from "../../agent/bootstrap.ts";
import { durationMs } from "../../base/duration.ts";
import type { ClientTLSSettings, TcpKeepalive } from "../../config/kinds/destination-rule.ts";
import type { ProxyConfig, RemoteService } from "../../config/kinds/mesh-proxy-config.ts";
import { ipMode } from "../../config/values/ip-address.ts";
import { packAny } from "../../xds/core-messages.ts";
import {
  accessLogServiceCluster,
  fileCertificateName,
  fileRootCaName,
  workloadCertificate,
  workloadRootCa,
} from "../../xds/names.ts";
import { fileSecret, identitySecret } from "../../xds/tls/sds-secret.ts";

const metricsServiceCluster = "envoy_metrics_service";

/** What a proxy's settings say of one service; the TLS of HTTP/1.1 ones offers no protocol. */
interface Target {
  readonly name: string;
  readonly service: RemoteService | undefined;
  readonly http2: boolean;
}

/**
 * The clusters that a proxy's `envoyAccessLogService`, `envoyMetricsService` and `tracing` stand for, and what uses them where
 * the listeners do not: they name a log service by its cluster, and for tracing trust in what the bootstrap says.
 * Lightstep's tracer is left out: Envoy has it no more.
 *
 * @param addresses of the proxy: they decide which sort of address a name is resolved to
 * @see istio 1.30.3 tools/packaging/common/envoy_bootstrap.json
 * @see istio 1.30.3 pkg/bootstrap/option/convert.go
 */
export function proxyServices(
  settings: ProxyConfig,
  addresses: readonly string[],
  nodeCluster: string,
): BootstrapServices {
  const { envoyAccessLogService, envoyMetricsService, envoyMetricsServiceAddress, tracing } = settings;
  const withTls = (address: string | undefined): RemoteService | undefined =>
    address === undefined
      ? undefined
      : { address, ...(tracing?.tlsSettings === undefined ? {} : { tlsSettings: tracing.tlsSettings }) };
  const metrics = envoyMetricsService?.address
    ? envoyMetricsService
    : envoyMetricsServiceAddress === undefined
      ? undefined
      : { address: envoyMetricsServiceAddress };
  const targets: readonly Target[] = [
    { name: "zipkin", service: withTls(tracing?.zipkin?.address), http2: false },
    { name: "datadog_agent", service: withTls(tracing?.datadog?.address), http2: false },
    { name: metricsServiceCluster, service: metrics, http2: true },
    { name: accessLogServiceCluster, service: envoyAccessLogService, http2: true },
  ];
  const clusters = targets.flatMap((target) => serviceCluster(target, addresses) ?? []);
  const has = (name: string): boolean => clusters.some((cluster) => cluster.name === name);
  return {
    clusters,
    statsSinks: has(metricsServiceCluster) ? [metricsSink] : [],
    tracing: has("zipkin") ? zipkinTracer : has("datadog_agent") ? datadogTracer(nodeCluster) : undefined,
  };
}

/** @returns undefined for a service without an address of the form `host:port` */
function serviceCluster({ name, service, http2 }: Target, addresses: readonly string[]): ClusterJson | undefined {
  const [, host, port] = /^(.+):(\d+)$/.exec(service?.address ?? "") ?? [];
  if (service === undefined || host === undefined) return undefined;
  const address = { socketAddress: { address: host.replace(/^\[|\]$/g, ""), portValue: Number(port) } };
  const socket = service.tlsSettings && tlsSocket(service.tlsSettings, name, http2);
  const keepalive = service.tcpKeepalive && keepaliveOptions(service.tcpKeepalive);
  return {
    name,
    altStatName: `${name};`,
    type: "STRICT_DNS",
    ...(socket === undefined ? {} : { transportSocket: socket }),
    ...(keepalive === undefined ? {} : { upstreamConnectionOptions: { tcpKeepalive: keepalive } }),
    respectDnsTtl: true,
    dnsLookupFamily: lookupFamily(addresses),
    connectTimeout: "1s",
    loadAssignment: { clusterName: name, endpoints: [{ lbEndpoints: [{ endpoint: { address } }] }] },
    ...(http2 ? { typedExtensionProtocolOptions: { [httpOptionsName]: http2Options } } : {}),
  };
}

const httpOptionsName = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const http2Options = packAny(httpOptionsName, { explicitHttpConfig: { http2ProtocolOptions: {} } });

function lookupFamily(addresses: readonly string[]): "V4_ONLY" | "V6_ONLY" | "ALL" {
  const mode = ipMode(addresses);
  return mode === "dual" ? "ALL" : mode === "IPv6" ? "V6_ONLY" : "V4_ONLY";
}

/** Whole seconds, as in Istio; zero is nothing. */
function keepaliveOptions({ probes, time, interval }: TcpKeepalive) {
  const seconds = (duration: string | undefined): number => Math.trunc(durationMs(duration ?? "0s") / 1000);
  return {
    ...(probes ? { keepaliveProbes: probes } : {}),
    ...(seconds(time) > 0 ? { keepaliveTime: seconds(time) } : {}),
    ...(seconds(interval) > 0 ? { keepaliveInterval: seconds(interval) } : {}),
  };
}

function tlsSocket(settings: ClientTLSSettings, defaultSni: string, http2: boolean): TransportSocketJson | undefined {
  const context = tlsContext(settings, defaultSni, http2);
  if (context === undefined) return undefined;
  const typedConfig = packAny("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", context);
  return { name: "envoy.transport_sockets.tls", typedConfig };
}

function tlsContext(
  {
    mode,
    sni = "",
    subjectAltNames = [],
    clientCertificate = "",
    privateKey = "",
    caCertificates = "",
  }: ClientTLSSettings,
  defaultSni: string,
  http2: boolean,
): UpstreamTlsContextJson | undefined {
  if (mode === undefined || mode === "DISABLE") return undefined;
  const isMesh = mode === "ISTIO_MUTUAL";
  const name = sni === "" && isMesh ? defaultSni : sni;
  const certificate = isMesh
    ? [identitySecret(workloadCertificate)]
    : mode === "MUTUAL" && clientCertificate !== ""
      ? [fileSecret(fileCertificateName(clientCertificate, privateKey))]
      : [];
  const names = subjectAltNames.map((exact) => ({ exact }));
  return {
    ...(name === "" ? {} : { sni: name }),
    commonTlsContext: {
      ...(http2 ? { alpnProtocols: isMesh ? ["istio", "h2"] : ["h2"] } : {}),
      ...(certificate.length === 0 ? {} : { tlsCertificateSdsSecretConfigs: certificate }),
      combinedValidationContext: {
        defaultValidationContext: names.length === 0 ? {} : { matchSubjectAltNames: names },
        validationContextSdsSecretConfig: isMesh
          ? identitySecret(workloadRootCa)
          : fileSecret(fileRootCaName(caCertificates)),
      },
    },
  };
}

const metricsSink = {
  name: "envoy.stat_sinks.metrics_service",
  typedConfig: packAny("envoy.config.metrics.v3.MetricsServiceConfig", {
    transportApiVersion: "V3",
    grpcService: { envoyGrpc: { clusterName: metricsServiceCluster } },
  }),
};

const zipkinTracer: BootstrapJson["tracing"] = {
  http: {
    name: "envoy.tracers.zipkin",
    typedConfig: packAny("envoy.config.trace.v3.ZipkinConfig", {
      collectorCluster: "zipkin",
      collectorEndpoint: "/api/v2/spans",
      collectorEndpointVersion: "HTTP_JSON",
      traceId128bit: true,
      sharedSpanContext: false,
    }),
  },
};

const datadogTracer = (nodeCluster: string): BootstrapJson["tracing"] => ({
  http: {
    name: "envoy.tracers.datadog",
    typedConfig: packAny("envoy.config.trace.v3.DatadogConfig", {
      collectorCluster: "datadog_agent",
      serviceName: nodeCluster,
    }),
  },
});
