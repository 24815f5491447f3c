import type {
  RouteAction_HashPolicy_CookieAttributeJson,
  RouteAction_HashPolicyJson,
} from "../../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type {
  ConsistentHashLB,
  DestinationRule,
  HTTPCookieAttribute,
  TrafficPolicy,
} from "../../../config/kinds/destination-rule.ts";
import type { Destination } from "../../../config/kinds/virtual-service.ts";

/**
 * What a request is hashed by; undefined where the setting names no key.
 * @see docs/how-istio-does-it/routes.md#hash-policy
 */
export function hashPolicy(hash: ConsistentHashLB): RouteAction_HashPolicyJson | undefined {
  if (hash.httpHeaderName !== undefined) return { header: { headerName: hash.httpHeaderName } };
  if (hash.httpCookie !== undefined) {
    const { name, ttl, path, attributes = [] } = hash.httpCookie;
    return {
      cookie: {
        name,
        ...(ttl === undefined ? {} : { ttl }),
        ...(path === undefined || path === "" ? {} : { path }),
        ...(attributes.length === 0 ? {} : { attributes: attributes.map(cookieAttribute) }),
      },
    };
  }
  if (hash.useSourceIp !== undefined) return { connectionProperties: hash.useSourceIp ? { sourceIp: true } : {} };
  if (hash.httpQueryParameterName !== undefined) return { queryParameter: { name: hash.httpQueryParameterName } };
  return undefined;
}

function cookieAttribute({ name, value }: HTTPCookieAttribute): RouteAction_HashPolicy_CookieAttributeJson {
  return value === undefined || value === "" ? { name } : { name, value };
}

/** The hash of a destination that a VirtualService names: port of the subset, subset, port, whole host. */
export function destinationHash(rule: DestinationRule, destination: Destination): ConsistentHashLB | undefined {
  const subset = rule.subsets?.find(({ name }) => name === (destination.subset ?? ""))?.trafficPolicy;
  const port = destination.port?.number;
  return (
    portHash(subset, port) ??
    subset?.loadBalancer?.consistentHash ??
    portHash(rule.trafficPolicy, port) ??
    rule.trafficPolicy?.loadBalancer?.consistentHash
  );
}

/** The hash of a service's port that no VirtualService stands in front of. */
export function serviceHash(rule: DestinationRule, port: number): ConsistentHashLB | undefined {
  return portHash(rule.trafficPolicy, port) ?? rule.trafficPolicy?.loadBalancer?.consistentHash;
}

function portHash(policy: TrafficPolicy | undefined, port: number | undefined): ConsistentHashLB | undefined {
  if (port === undefined) return undefined;
  return policy?.portLevelSettings?.find((setting) => setting.port.number === port)?.loadBalancer?.consistentHash;
}
