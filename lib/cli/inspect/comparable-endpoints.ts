import { type Fields, isFields, listIn, memberOf } from "../../base/untyped.ts";
import { canonicalJson } from "../../config/canonical-json.ts";

/**
 * A ClusterLoadAssignment, in canonical JSON, as two that mean the same can be compared. An Envoy does not keep the message that it was
 * sent: its dump is made anew from the hosts that it has. It says every default, leaves localities without endpoints out, and has localities
 * and endpoints in an order of its own.
 *
 * @see envoy 1.40.0 source/server/admin/config_dump_handler.cc, dumpEndpointConfigs
 */
export function comparableEndpoints(assignment: Fields): Fields {
  const { policy, endpoints: _, ...rest } = assignment;
  const groups = new Map<string, { readonly group: Fields; readonly members: Fields[] }>();
  for (const group of listIn(assignment, "endpoints")) {
    if (!isFields(group)) continue;
    const { lbEndpoints: _members, ...said } = group;
    const key = sortKey(withoutEmpty(said, ["locality", "metadata"]));
    const known = groups.get(key) ?? { group: withoutEmpty(said, ["locality", "metadata"]), members: [] };
    groups.set(key, known);
    for (const member of listIn(group, "lbEndpoints")) if (isFields(member)) known.members.push(endpointOf(member));
  }
  const endpoints = [...groups]
    .filter(([, { members }]) => members.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { group, members }]) => ({ ...group, lbEndpoints: members.sort(byKey) }));
  const kept = policyOf(policy);
  return {
    ...rest,
    ...(Object.keys(kept).length === 0 ? {} : { policy: kept }),
    ...(endpoints.length === 0 ? {} : { endpoints }),
  };
}

/** @see https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/endpoint/v3/endpoint.proto */
function policyOf(policy: unknown): Fields {
  if (!isFields(policy)) return {};
  const { overprovisioningFactor, ...rest } = policy;
  return overprovisioningFactor === undefined || overprovisioningFactor === 140
    ? rest
    : { ...rest, overprovisioningFactor };
}

/** What an Envoy takes for healthy, and for unhealthy. @see https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/core/v3/health_check.proto */
const health: Readonly<Record<string, string>> = {
  UNKNOWN: "HEALTHY",
  HEALTHY: "HEALTHY",
  DRAINING: "UNHEALTHY",
  TIMEOUT: "UNHEALTHY",
};

function endpointOf(member: Fields): Fields {
  const { healthStatus = "HEALTHY", loadBalancingWeight = 1, endpoint, ...rest } = withoutEmpty(member, ["metadata"]);
  const host = isFields(endpoint) ? withoutEmpty(endpoint, ["healthCheckConfig"]) : endpoint;
  return {
    ...rest,
    ...(host === undefined ? {} : { endpoint: host }),
    healthStatus: health[String(healthStatus)] ?? healthStatus,
    loadBalancingWeight,
  };
}

/** Without those of some members that are messages in which nothing is set. */
function withoutEmpty(fields: Fields, names: readonly string[]): Fields {
  const isEmpty = (value: unknown) => isFields(value) && Object.keys(value).length === 0;
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !(names.includes(name) && isEmpty(value))),
  );
}

/** By address, then by all that is said. */
const byKey = (a: Fields, b: Fields): number => (sortKey(a) < sortKey(b) ? -1 : 1);

const sortKey = (value: Fields): string => canonicalJson([memberOf(value, "endpoint"), value]);
