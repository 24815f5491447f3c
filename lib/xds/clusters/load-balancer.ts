import type { Cluster_SlowStartConfigJson, ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type {
  ConsistentHashLB,
  LoadBalancerSettings,
  WarmupConfiguration,
} from "../../config/kinds/destination-rule.ts";

/** The part of a cluster that chooses among its endpoints. */
export type LoadBalancer = Pick<
  ClusterJson,
  "lbPolicy" | "leastRequestLbConfig" | "roundRobinLbConfig" | "ringHashLbConfig" | "maglevLbConfig"
>;

/**
 * Envoy's policy for a balancer setting; round robin is Envoy's zero value and so leaves no trace.
 * @see docs/how-istio-does-it/clusters.md#balancers
 */
export function loadBalancer(settings: LoadBalancerSettings | undefined): LoadBalancer {
  if (settings === undefined) return leastRequest;
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
