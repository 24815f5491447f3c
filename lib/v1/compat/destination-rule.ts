import { durationMs } from "../../base/duration.ts";
import type {
  ConnectionPoolSettings,
  DestinationRule,
  LoadBalancerSettings,
  OutlierDetection as OutlierSettings,
  TrafficPolicy,
} from "../../config/kinds/destination-rule.ts";
import { sameLabels } from "../../config/values/labels.ts";
import type { Labels } from "../../legacy/service-key.ts";
import type { CircuitBreakers, Cluster, OutlierDetection } from "../documents.ts";

type Members = Pick<
  Cluster,
  "lb_type" | "max_requests_per_connection" | "connect_timeout_ms" | "circuit_breakers" | "outlier_detection"
>;

/** What a rule makes of a cluster: the policy of the host, then that of the subset whose labels are the cluster's. */
export function withDestinationRule(
  cluster: Cluster,
  rule: DestinationRule | undefined,
  labels: Labels | undefined,
): Partial<Members> {
  const subset = rule?.subsets?.find((of) => sameLabels(of.labels ?? {}, labels ?? {}));
  return [rule?.trafficPolicy, subset?.trafficPolicy].reduce<Partial<Members>>(
    (made, policy) => (policy === undefined ? made : { ...withoutOutliers(made), ...policyMembers(cluster, policy) }),
    {},
  );
}

/** A policy that says nothing of outliers takes the host's away. */
function withoutOutliers({ outlier_detection: _outliers, ...rest }: Partial<Members>): Partial<Members> {
  return rest;
}

function policyMembers(cluster: Cluster, policy: TrafficPolicy): Partial<Members> {
  const balancer = cluster.type === "original_dst" ? undefined : balancerOf(policy.loadBalancer);
  return {
    ...(balancer === undefined ? {} : { lb_type: balancer }),
    max_requests_per_connection: policy.connectionPool?.http?.maxRequestsPerConnection || 1024,
    ...(policy.connectionPool === undefined ? {} : poolMembers(policy.connectionPool)),
    ...(policy.outlierDetection === undefined ? {} : { outlier_detection: outliersOf(policy.outlierDetection) }),
  };
}

function balancerOf(settings: LoadBalancerSettings | undefined): Cluster["lb_type"] | undefined {
  if (settings === undefined || settings.consistentHash !== undefined) return undefined;
  switch (settings.simple) {
    case "LEAST_CONN":
      return "least_request";
    case "RANDOM":
      return "random";
    case "PASSTHROUGH":
      return "original_dst_lb";
    default:
      return "round_robin";
  }
}

function poolMembers({ tcp, http }: ConnectionPoolSettings): Partial<Members> {
  const limits: CircuitBreakers = {
    max_connections: tcp?.maxConnections || 1024,
    max_pending_requests: http?.http1MaxPendingRequests || 1024,
    max_requests: http?.http2MaxRequests || 1024,
    max_retries: http?.maxRetries || 3,
  };
  return {
    circuit_breakers: { default: limits },
    ...(tcp?.connectTimeout === undefined ? {} : { connect_timeout_ms: Math.trunc(durationMs(tcp.connectTimeout)) }),
  };
}

function outliersOf(settings: OutlierSettings): OutlierDetection {
  const { interval, baseEjectionTime } = settings;
  return {
    consecutive_5xx: settings.consecutiveErrors || 5,
    interval_ms: interval === undefined ? 10_000 : Math.trunc(durationMs(interval)),
    base_ejection_time_ms: baseEjectionTime === undefined ? 30_000 : Math.trunc(durationMs(baseEjectionTime)),
    max_ejection_percent: settings.maxEjectionPercent || 10,
  };
}
