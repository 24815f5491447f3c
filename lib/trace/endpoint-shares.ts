import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type {
  LbEndpointJson,
  LocalityLbEndpointsJson,
} from "../../gen/envoy/config/endpoint/v3/endpoint_components_pb.ts";
import type { ClusterLoadAssignmentJson } from "../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import { localityText } from "../base/classifier.ts";
import { type PassedOver, percent, type TracedEndpoint } from "./decision.ts";
import { priorityLoads } from "./priority-loads.ts";

/** Which endpoints of a cluster requests go to, as far as configuration says it: no health that Envoy finds out itself. */
export interface EndpointShares {
  /** Those that get any, in the order of priorities, then as listed. */
  readonly endpoints: readonly TracedEndpoint[];
  readonly passedOver: readonly PassedOver[];
}

interface Candidate {
  readonly address: string;
  readonly port: number;
  readonly locality: string;
  readonly priority: number;
  readonly weight: number;
  readonly health: "healthy" | "degraded" | "unhealthy";
  readonly said: string;
}

interface Group {
  readonly candidates: readonly Candidate[];
  /** Of the locality among those of its priority. */
  readonly weight: number;
}

/** @see envoy 1.40.0 source/common/upstream/load_balancer_impl.cc */
export function endpointShares(cluster: ClusterJson, assignment: ClusterLoadAssignmentJson): EndpointShares {
  const { endpoints: localities = [], policy } = assignment;
  const factor = (policy?.overprovisioningFactor ?? 140) / 100;
  const groups = Map.groupBy(localities.map(groupOf), ({ candidates }) => candidates[0]?.priority ?? -1);
  const priorities = Array.from({ length: Math.max(-1, ...groups.keys()) + 1 }, (_, at) => groups.get(at) ?? []);
  const panicThreshold = Number(cluster.commonLbConfig?.healthyPanicThreshold?.value ?? 50);
  const loads = priorityLoads(priorities.map(countsOf), factor, panicThreshold);
  const shares = new Map<Candidate, number>();
  for (const [priority, level] of priorities.entries()) {
    const { healthy = 0, degraded = 0, isPanic = false } = loads[priority] ?? {};
    for (const [health, load] of [
      ["healthy", healthy],
      ["degraded", degraded],
    ] as const) {
      if (load === 0) continue;
      const isEligible = (one: Candidate) => isPanic || one.health === health;
      spread(level, load, { isEligible, factor, isByLocality: hasLocalityWeights(cluster) && !isPanic }, shares);
    }
  }
  const all = priorities.flat().flatMap(({ candidates }) => candidates);
  const isHashed = cluster.lbPolicy === "RING_HASH" || cluster.lbPolicy === "MAGLEV";
  const endpoints = all.flatMap((one): readonly TracedEndpoint[] => {
    const share = shares.get(one) ?? 0;
    const { address, port, locality, priority } = one;
    if (share === 0) return [];
    return [{ address, port, locality, priority, ...(isHashed ? {} : { sharePercent: percent(share) }) }];
  });
  const passedOver = all.filter((one) => (shares.get(one) ?? 0) === 0).map(passedEndpoint);
  return { endpoints, passedOver };
}

const hasLocalityWeights = ({ commonLbConfig, loadBalancingPolicy }: ClusterJson): boolean =>
  loadBalancingPolicy === undefined && commonLbConfig?.localityWeightedLbConfig !== undefined;

function groupOf({
  locality = {},
  lbEndpoints = [],
  loadBalancingWeight = 0,
  priority = 0,
}: LocalityLbEndpointsJson): Group {
  const name = localityText(locality.region, locality.zone, locality.subZone);
  return { candidates: lbEndpoints.map((one) => candidateOf(one, name, priority)), weight: loadBalancingWeight };
}

function candidateOf(one: LbEndpointJson, locality: string, priority: number): Candidate {
  const { socketAddress, pipe, envoyInternalAddress } = one.endpoint?.address ?? {};
  const address = socketAddress?.address ?? pipe?.path ?? envoyInternalAddress?.serverListenerName ?? "";
  const said = String(one.healthStatus ?? "UNKNOWN");
  const health = said === "DEGRADED" ? "degraded" : said === "UNKNOWN" || said === "HEALTHY" ? "healthy" : "unhealthy";
  return {
    address,
    port: socketAddress?.portValue ?? 0,
    locality,
    priority,
    weight: one.loadBalancingWeight ?? 1,
    health,
    said,
  };
}

function countsOf(level: readonly Group[]) {
  const all = level.flatMap(({ candidates }) => candidates);
  const of = (health: Candidate["health"]) => all.filter((one) => one.health === health).length;
  return { healthy: of("healthy"), degraded: of("degraded"), all: all.length };
}

interface SpreadRules {
  isEligible(one: Candidate): boolean;
  readonly factor: number;
  readonly isByLocality: boolean;
}

/** Divides the load of a priority among its endpoints, by their weights, or by their localities' weights first. */
function spread(level: readonly Group[], load: number, rules: SpreadRules, shares: Map<Candidate, number>): void {
  const { isEligible, factor, isByLocality } = rules;
  const groups = isByLocality ? level : [{ candidates: level.flatMap(({ candidates }) => candidates), weight: 1 }];
  const open = groups.map(({ candidates, weight }) => {
    const eligible = candidates.filter(isEligible);
    const available = candidates.length === 0 ? 0 : eligible.length / candidates.length;
    return { eligible, weight: eligible.length === 0 ? 0 : weight * Math.min(1, available * factor) };
  });
  const total = open.reduce((sum, { weight }) => sum + weight, 0);
  for (const { eligible, weight } of open) {
    const sum = eligible.reduce((all, one) => all + one.weight, 0);
    for (const one of eligible) {
      const share = (load * weight * one.weight) / (total * sum);
      if (total > 0) shares.set(one, (shares.get(one) ?? 0) + share);
    }
  }
}

function passedEndpoint({ address, port, priority, health, said }: Candidate): PassedOver {
  const why =
    health === "healthy" ? `priority ${priority} gets nothing while those before it have enough` : `it is ${said}`;
  return { name: port === 0 ? address : `${address}:${port}`, why };
}
