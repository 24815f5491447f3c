import type { ClusterLoadAssignmentJson } from "../../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { Service, ServicePort } from "../../registry/service.ts";
import { type EffectiveTrafficPolicy, subsetOf } from "../clusters/traffic-policy.ts";
import { distribute } from "./distribute.ts";
import type { EndpointContext } from "./endpoint-context.ts";
import { mtlsDecision } from "./endpoint-mtls.ts";
import { byLabels, byNearness, byRegion } from "./failover.ts";
import {
  groupByLocality,
  groupJson,
  type LocalityGroup,
  type Member,
  type MemberPool,
  totalWeight,
} from "./locality-group.ts";
import { localityRouting, sendsUnhealthyEndpoints } from "./locality-setting.ts";
import { splitHorizon } from "./network-gateways.ts";
import { selects } from "./select-endpoints.ts";

/** One cluster's endpoints as one class of proxies sees them. */
export interface Assignment {
  readonly clusterName: string;
  readonly service: Service;
  readonly port: ServicePort;
  /** "" for the whole service. */
  readonly subset: string;
  readonly rule: MeshDestinationRule | undefined;
  readonly policy: EffectiveTrafficPolicy | undefined;
  /** The clusters of an SNI-routing gateway: it passes mTLS through, so only endpoints that take it count. */
  readonly sniDnat: boolean;
  /** The cluster resolves names itself. */
  readonly dns: boolean;
}

function mtlsOnly(groups: readonly LocalityGroup[]): readonly LocalityGroup[] {
  return groups.map((group) => {
    const members = group.members.filter((member) => member.mtls);
    return { ...group, members, weight: totalWeight(members) };
  });
}

/** Weights or priorities by locality, as far as anybody asked for them. */
function byLocality(
  groups: readonly LocalityGroup[],
  assignment: Assignment,
  { perspective, mesh }: EndpointContext,
): readonly LocalityGroup[] {
  const { setting, zones, failover } = localityRouting(assignment.service, assignment.policy, mesh);
  const labelled = (priorities: readonly string[]): readonly LocalityGroup[] =>
    byLabels(groups, priorities, perspective.failoverLabels, mesh.rules.prefersNetworkInFailover);
  if (zones !== undefined) {
    if (zones.enabled === false) return groups;
    const { failoverPriority = [] } = zones;
    return byRegion(
      failoverPriority.length === 0 ? groups : labelled(failoverPriority),
      zones.failover ?? [],
      perspective.locality,
    );
  }
  if (setting === undefined) return groups;
  if (setting.distribute !== undefined && setting.distribute.length > 0) {
    return distribute(groups, setting.distribute, perspective.locality);
  }
  if (!failover) return groups;
  const priorities = setting.failoverPriority ?? [];
  const rules = setting.failover ?? [];
  if (priorities.length === 0) return byNearness(groups, rules, perspective.locality);
  return rules.length === 0 ? labelled(priorities) : byNearness(labelled(priorities), rules, perspective.locality);
}

/**
 * The load assignment of one cluster: endpoints of the port and subset, grouped by locality, those of other networks
 * behind their gateways, weighed or ordered by locality.
 *
 * @param pool the service's endpoints
 * @returns without `endpoints` if nothing is left: that is an answer, and lets Envoy finish warming the cluster
 * @see docs/how-istio-does-it/endpoints.md#load-assignment
 */
export function loadAssignment(
  assignment: Assignment,
  seen: EndpointContext,
  pool: MemberPool,
): ClusterLoadAssignmentJson {
  const { service, port, rule, subset, clusterName } = assignment;
  const { perspective, gateways, localityOf } = seen;
  const selected = selects(
    {
      service,
      port,
      labels: subsetOf(rule, subset)?.labels,
      clusterLocal: seen.isClusterLocal(service),
      unhealthyToo: sendsUnhealthyEndpoints(service, assignment.policy, seen.mesh),
      hostnames: assignment.dns,
    },
    perspective,
    gateways.size > 0,
  );
  const takesMtls = mtlsDecision(seen, rule, subset, port.port);
  const members: Member[] = [];
  pool.endpoints.forEach((endpoint, index) => {
    if (selected(endpoint)) members.push(pool.memberAt(index, takesMtls(endpoint)));
  });
  const reachable = splitHorizon(groupByLocality(members), gateways, perspective);
  const groups = byLocality(assignment.sniDnat ? mtlsOnly(reachable) : reachable, assignment, seen);
  if (groups.length === 0) return { clusterName };
  return { clusterName, endpoints: groups.map((group) => groupJson(group, localityOf)) };
}
