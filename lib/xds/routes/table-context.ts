import type { RetryPolicyJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { DestinationRule, TrafficPolicy } from "../../config/kinds/destination-rule.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import { remembered } from "../../mesh/memo/lazy.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import type { RouteView } from "../../mesh/views/views.ts";
import type { ForwardedHeaders } from "./default-route.ts";
import { retryPolicy } from "./retry-policy.ts";

/** What all tables of a view share. */
export interface TableContext {
  readonly view: RouteView;
  readonly memo: Memo;
  readonly headers: ForwardedHeaders;
  /** The policy of routes that no VirtualService makes. */
  readonly defaultRetry: RetryPolicyJson | undefined;
  /** Plain values that every remembered virtual host depends on, as a text. */
  readonly key: string;
  /** The same of the domains of services, and of default routes to a port. */
  readonly domainsKey: string;
  defaultKey(port: number): string;
  /** The rule that says how requests to a host are hashed; undefined: they are not. */
  hashRule(hostname: string): MeshDestinationRule | undefined;
}

export function tableContext(view: RouteView, memo: Memo): TableContext {
  const { proxyHeaders } = view.proxy.proxyConfig;
  const headers = {
    attemptCount: proxyHeaders?.attemptCount?.disabled !== true,
    forwardedHost: proxyHeaders?.xForwardedHost?.enabled === true,
  };
  const retries = view.lookups.mesh.defaultHttpRetryPolicy;
  const ruleOf = (hostname: string): MeshDestinationRule | undefined => {
    const service = view.scope.serviceByHostname.get(hostname);
    const rule = service && view.destinationRule(service);
    return rule !== undefined && memo([rule], "hashes", () => hashes(rule.config.spec)) ? rule : undefined;
  };
  const key = `${headers.attemptCount} ${headers.forwardedHost} ${retries === undefined ? "" : JSON.stringify(retries)}`;
  const { dnsDomain, clusterId, ipMode, autoAllocatedAddresses } = view.proxy;
  return {
    view,
    memo,
    headers,
    defaultRetry: retryPolicy(retries, false),
    key,
    domainsKey: `domains|${dnsDomain}|${clusterId}|${ipMode}|${autoAllocatedAddresses}`,
    // Thousands of services ask for a few ports.
    defaultKey: remembered((port) => `default|${port}|${key}`),
    hashRule: ruleOf,
  };
}

/** Does any level of the rule hash requests? */
function hashes(rule: DestinationRule): boolean {
  const policyHashes = (policy: TrafficPolicy | undefined): boolean =>
    policy?.loadBalancer?.consistentHash !== undefined ||
    (policy?.portLevelSettings ?? []).some((setting) => setting.loadBalancer?.consistentHash !== undefined);
  return policyHashes(rule.trafficPolicy) || (rule.subsets ?? []).some((subset) => policyHashes(subset.trafficPolicy));
}
