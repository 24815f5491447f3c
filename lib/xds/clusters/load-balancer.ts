import type {
  Cluster_SlowStartConfigJson,
  ClusterJson,
  LoadBalancingPolicyJson,
} from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ClientSideWeightedRoundRobinJson } from "../../../gen/envoy/extensions/load_balancing_policies/client_side_weighted_round_robin/v3/client_side_weighted_round_robin_pb.ts";
import type { WrrLocalityJson } from "../../../gen/envoy/extensions/load_balancing_policies/wrr_locality/v3/wrr_locality_pb.ts";
import type {
  BackendUtilizationLB,
  ConsistentHashLB,
  LoadBalancerSettings,
  WarmupConfiguration,
} from "../../config/kinds/destination-rule.ts";
import { packAny } from "../core-messages.ts";

/** The part of a cluster that chooses among its endpoints. */
export type LoadBalancer = Pick<
  ClusterJson,
  | "lbPolicy"
  | "leastRequestLbConfig"
  | "roundRobinLbConfig"
  | "ringHashLbConfig"
  | "maglevLbConfig"
  | "loadBalancingPolicy"
>;

/**
 * Envoy's policy for a balancer setting; round robin is Envoy's zero value and so leaves no trace.
 *
 * @param weighsLocalities whether localities have weights of their own
 * @see docs/how-istio-does-it/clusters.md#balancers
 */
export function loadBalancer(settings: LoadBalancerSettings | undefined, weighsLocalities = false): LoadBalancer {
  if (settings === undefined) return leastRequest;
  if (settings.backendUtilization !== undefined) return byUtilization(settings.backendUtilization, weighsLocalities);
  if (settings.consistentHash !== undefined) return hashing(settings.consistentHash);
  const slowStartConfig = slowStart(settings);
  switch (settings.simple) {
    case "ROUND_ROBIN":
      return slowStartConfig === undefined ? {} : { roundRobinLbConfig: { slowStartConfig } };
    case "RANDOM":
      return { lbPolicy: "RANDOM" };
    case "PASSTHROUGH":
      return { lbPolicy: "CLUSTER_PROVIDED" };
    default:
      return slowStartConfig === undefined
        ? leastRequest
        : { ...leastRequest, leastRequestLbConfig: { slowStartConfig } };
  }
}

/** Most clusters have this. */
const leastRequest: LoadBalancer = { lbPolicy: "LEAST_REQUEST" };

/** The algorithm only: what is hashed stands on routes and TCP proxies. */
function hashing(hash: ConsistentHashLB): LoadBalancer {
  if (hash.maglev !== undefined) {
    const size = hash.maglev.tableSize ?? 0;
    return { lbPolicy: "MAGLEV", ...(size === 0 ? {} : { maglevLbConfig: { tableSize: String(size) } }) };
  }
  // The deprecated field has Envoy's own default, the new message has none.
  const size = hash.ringHash === undefined ? hash.minimumRingSize || 1024 : (hash.ringHash.minimumRingSize ?? 0);
  return { lbPolicy: "RING_HASH", ...(size === 0 ? {} : { ringHashLbConfig: { minimumRingSize: String(size) } }) };
}

const policies = "envoy.extensions.load_balancing_policies";

/**
 * Weights by what endpoints report. A policy of this kind has no part in `commonLbConfig`, so weights of localities stand around it. By the
 * API's text errors do not count unless a penalty is stated; in Envoy they count once by default.
 */
function byUtilization(settings: BackendUtilizationLB, weighsLocalities: boolean): LoadBalancer {
  const { weightStabilizationPeriod, weightExpirationPeriod, weightUpdatePeriod } = settings;
  const metrics = settings.metricNamesForComputingUtilization ?? [];
  const config: ClientSideWeightedRoundRobinJson = {
    ...(weightStabilizationPeriod === undefined ? {} : { blackoutPeriod: weightStabilizationPeriod }),
    ...(weightExpirationPeriod === undefined ? {} : { weightExpirationPeriod }),
    ...(weightUpdatePeriod === undefined ? {} : { weightUpdatePeriod }),
    errorUtilizationPenalty: (settings.errorUtilizationPenaltyPercent ?? 0) / 100,
    ...(metrics.length === 0 ? {} : { metricNamesForComputingUtilization: [...metrics] }),
  };
  const picking = onePolicy(
    "envoy.load_balancing_policies.client_side_weighted_round_robin",
    packAny(`${policies}.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin`, config),
  );
  if (!weighsLocalities) return { loadBalancingPolicy: picking };
  const weighing: WrrLocalityJson = { endpointPickingPolicy: picking };
  return {
    loadBalancingPolicy: onePolicy(
      "envoy.load_balancing_policies.wrr_locality",
      packAny(`${policies}.wrr_locality.v3.WrrLocality`, weighing),
    ),
  };
}

const onePolicy = (name: string, typedConfig: ReturnType<typeof packAny>): LoadBalancingPolicyJson => ({
  policies: [{ typedExtensionConfig: { name, typedConfig } }],
});

function slowStart(settings: LoadBalancerSettings): Cluster_SlowStartConfigJson | undefined {
  if (settings.warmup !== undefined) return warmup(settings.warmup);
  return settings.warmupDurationSecs === undefined ? undefined : { slowStartWindow: settings.warmupDurationSecs };
}

function warmup(settings: WarmupConfiguration): Cluster_SlowStartConfigJson {
  const percent = settings.minimumPercent ?? 10;
  const aggression = settings.aggression ?? 1;
  return {
    slowStartWindow: settings.duration,
    // Envoy insists on a runtime key although nobody is to set it; Istio writes this one.
    aggression: { ...(aggression === 0 ? {} : { defaultValue: aggression }), runtimeKey: "(" },
    minWeightPercent: percent === 0 ? {} : { value: percent },
  };
}
