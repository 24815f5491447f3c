import type { FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { MetricConfigJson, PluginConfigJson } from "../../../gen/istio/extensions/stats/config_pb.ts";
import type { ClassProxy, WorkloadPolicies } from "../../mesh/views/views.ts";
import { packAny } from "../core-messages.ts";
import { isPrometheus, type MetricChange, mergeMetrics, type ProviderMetrics } from "../telemetry/metrics.ts";
import type { ProviderLookups } from "../telemetry/provider-cluster.ts";
import { findProvider, type TelemetrySide } from "../telemetry/telemetry-side.ts";

/** Filters that make Istio's metrics, one for each provider. */
export interface StatsFilters {
  readonly http: readonly HttpFilterJson[];
  readonly tcp: readonly FilterJson[];
}

const noStats: StatsFilters = { http: [], tcp: [] };

/** Istio's names of its metrics in Prometheus, without their prefix. */
const prometheusNames: ReadonlyMap<string, string> = new Map([
  ["REQUEST_COUNT", "requests_total"],
  ["REQUEST_DURATION", "request_duration_milliseconds"],
  ["REQUEST_SIZE", "request_bytes"],
  ["RESPONSE_SIZE", "response_bytes"],
  ["TCP_OPENED_CONNECTIONS", "tcp_connections_opened_total"],
  ["TCP_CLOSED_CONNECTIONS", "tcp_connections_closed_total"],
  ["TCP_SENT_BYTES", "tcp_sent_bytes_total"],
  ["TCP_RECEIVED_BYTES", "tcp_received_bytes_total"],
  ["GRPC_REQUEST_MESSAGES", "request_messages_total"],
  ["GRPC_RESPONSE_MESSAGES", "response_messages_total"],
]);

/**
 * The filters of a side of Istio's own proxy; none for a stock Envoy, which lacks them.
 * @see docs/how-istio-does-it/telemetry.md#metrics
 */
export function statsFilters(
  telemetry: WorkloadPolicies["telemetry"],
  { build, type }: Pick<ClassProxy, "build" | "type">,
  side: TelemetrySide,
  { mesh }: ProviderLookups,
): StatsFilters {
  if (build !== "istio") return noStats;
  const rules = telemetry.flatMap(({ spec }) => spec.metrics ?? []);
  // Outside of the mesh a request's host says nothing of the service that it is for.
  const knowsHosts = side === "CLIENT" && type === "sidecar";
  const filters = [...mergeMetrics(rules, mesh.defaultProviders.metrics ?? [], side)].flatMap(([name, metrics]) =>
    isPrometheus(findProvider(mesh.extensionProviders, name)) ? [statsFilter(metrics, knowsHosts)] : [],
  );
  return { http: filters, tcp: filters };
}

function statsFilter({ changes, reportingInterval }: ProviderMetrics, knowsHosts: boolean) {
  const config: PluginConfigJson = {
    ...(knowsHosts ? {} : { disableHostHeaderFallback: true }),
    ...(reportingInterval === undefined ? {} : { tcpReportingDuration: reportingInterval }),
    ...(changes.length === 0 ? {} : { metrics: changes.map(metricConfig) }),
  };
  return { name: "istio.stats", typedConfig: packAny("stats.PluginConfig", config) };
}

function metricConfig({ metric, disabled, tags }: MetricChange): MetricConfigJson {
  const removed = tags.flatMap(([name, { operation }]) => (operation === "REMOVE" ? [name] : []));
  const set = tags.filter(([, { operation }]) => operation !== "REMOVE");
  return {
    ...(set.length === 0 ? {} : { dimensions: Object.fromEntries(set.map(([name, { value = "" }]) => [name, value])) }),
    name: prometheusNames.get(metric) ?? metric,
    ...(removed.length === 0 ? {} : { tagsToRemove: removed }),
    ...(disabled ? { drop: true } : {}),
  };
}
