import type {
  RetryPolicyJson,
  RouteActionJson,
  RouteJson,
  VirtualHostJson,
} from "../../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { ConsistentHashLB } from "../../../config/kinds/destination-rule.ts";
import type { OutboundTrafficPolicy } from "../../../config/kinds/sidecar.ts";
import {
  allowAnyHost,
  blockAllHost,
  defaultRoute,
  dynamicDnsCluster,
  dynamicDnsHost,
  operationName,
  outboundClusterName,
  passthroughCluster,
} from "../../names.ts";
import { destinationCluster, noServices } from "./destination-cluster.ts";
import { hashPolicy } from "./hash-policy.ts";

/**
 * The one route of a service's port that no VirtualService stands in front of.
 *
 * @param retry the mesh's policy, which avoids previous hosts here even with a consistent hash, other than behind a
 *   VirtualService; one object for all routes of a table
 * @see docs/how-istio-does-it/routes.md#default-route
 */
export function defaultOutboundRoute(
  hostname: string,
  port: number,
  hash: ConsistentHashLB | undefined,
  retry: RetryPolicyJson | undefined,
): RouteJson {
  const policy = hash && hashPolicy(hash);
  const action: RouteActionJson = {
    cluster: outboundClusterName(port, "", hostname),
    timeout: "0s",
    maxGrpcTimeout: "0s",
  };
  if (retry !== undefined) action.retryPolicy = retry;
  if (policy !== undefined) action.hashPolicy = [policy];
  return {
    name: defaultRoute,
    match: { prefix: "/" },
    decorator: { operation: operationName(hostname, port, "/*") },
    route: action,
  };
}

/** What a connection manager adds to the headers of a request, as far as route tables say it. */
export interface ForwardedHeaders {
  /** `x-envoy-attempt-count`. */
  readonly attemptCount: boolean;
  /** `x-forwarded-host` where the host changes. */
  readonly forwardedHost: boolean;
}

/**
 * What becomes of a host that no virtual host names: it is let through (to the egress proxy, if there is one, or to what its name is resolved
 * to), or refused.
 *
 * @see docs/how-istio-does-it/routes.md#catch-all-host
 */
export function catchAllVirtualHost(policy: OutboundTrafficPolicy, headers: ForwardedHeaders): VirtualHostJson {
  const attemptCount = headers.attemptCount ? { includeRequestAttemptCount: true } : {};
  const isResolved = policy.mode === "ALLOW_ANY_DYNAMIC_DNS";
  if (policy.mode !== "ALLOW_ANY" && !isResolved) {
    const refuse = { name: blockAllHost, match: { prefix: "/" }, directResponse: { status: 502 } };
    return { name: blockAllHost, domains: ["*"], routes: [refuse], ...attemptCount };
  }
  const name = isResolved ? dynamicDnsHost : allowAnyHost;
  const pass: RouteJson = {
    name,
    match: { prefix: "/" },
    route: {
      cluster: isResolved ? dynamicDnsCluster : unclaimedCluster(policy),
      timeout: "0s",
      maxGrpcTimeout: "0s",
      ...(headers.forwardedHost ? { appendXForwardedHost: true } : {}),
    },
  };
  return { name, domains: ["*"], routes: [pass], ...attemptCount };
}

const unclaimedCluster = ({ egressProxy }: OutboundTrafficPolicy): string =>
  egressProxy === undefined ? passthroughCluster : destinationCluster(egressProxy, noServices);
