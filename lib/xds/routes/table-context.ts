import type { RetryPolicyJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { DestinationRule, TrafficPolicy } from "../../config/kinds/destination-rule.ts";
import type { HTTPRetry } from "../../config/kinds/virtual-service.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { SidecarScope } from "../../mesh/scope/sidecar-scope.ts";
import type { RouteView } from "../../mesh/views/views.ts";
import type { ForwardedHeaders } from "./actions/default-route.ts";
import { retryPolicy } from "./actions/retry-policy.ts";
import { type DomainPerspectives, domainPerspectives } from "./service-domains.ts";

/** What routes depend on beside the objects that they are made from: one object for all classes with equal settings. */
export interface TableSettings {
  readonly headers: ForwardedHeaders;
  /** The mesh's policy for routes that name none. */
  readonly retries: HTTPRetry | undefined;
  /** The same for routes that no VirtualService makes. */
  readonly defaultRetry: RetryPolicyJson | undefined;
  /** For programs that speak xDS themselves: they compare hosts with their ports, and know a timeout as a longest duration of streams. */
  readonly proxyless: boolean;
}

/** What all tables of a view share. */
export interface TableContext {
  readonly view: RouteView;
  readonly memo: Memo;
  readonly settings: TableSettings;
  readonly domains: DomainPerspectives;
}

export function tableContext(view: RouteView, memo: Memo, proxyless = false): TableContext {
  return {
    view,
    memo,
    settings: tableSettings(memo, {
      ...forwardedHeaders(view.proxy),
      retries: view.lookups.mesh.defaultHttpRetryPolicy,
      proxyless,
    }),
    domains: domainPerspectives(view.proxy, memo),
  };
}

/** What the routes of a proxy add to the headers of a request. */
export const forwardedHeaders = ({ proxyConfig: { proxyHeaders } }: RouteView["proxy"]): ForwardedHeaders => ({
  attemptCount: proxyHeaders?.attemptCount?.disabled !== true,
  forwardedHost: proxyHeaders?.xForwardedHost?.enabled === true,
});

const tableSettings = query(
  "route table settings",
  { retries: "value" },
  ({
    retries,
    proxyless,
    ...headers
  }: ForwardedHeaders & Pick<TableSettings, "retries" | "proxyless">): TableSettings => ({
    headers,
    retries,
    proxyless,
    defaultRetry: retryPolicy(retries, false),
  }),
);

/** Where the rules of a class are found. */
export interface RuleSource extends Pick<SidecarScope, "serviceByHostname">, Pick<RouteView, "destinationRule"> {}

export const ruleSource = ({ scope, destinationRule }: RouteView): RuleSource => ({
  serviceByHostname: scope.serviceByHostname,
  destinationRule,
});

/** The rule that says how requests to a host are hashed; undefined: they are not. */
export function hashRule(rules: RuleSource, hostname: string): MeshDestinationRule | undefined {
  const service = rules.serviceByHostname.get(hostname);
  const rule = service && rules.destinationRule(service);
  return rule !== undefined && hashes(rule.config.spec) ? rule : undefined;
}

/** Does any level of the rule hash requests? Looked at each time: it is soon seen. */
function hashes({ trafficPolicy, subsets = [] }: DestinationRule): boolean {
  return policyHashes(trafficPolicy) || subsets.some((subset) => policyHashes(subset.trafficPolicy));
}

function policyHashes(policy: TrafficPolicy | undefined): boolean {
  return (
    policy?.loadBalancer?.consistentHash !== undefined ||
    (policy?.portLevelSettings ?? []).some((setting) => setting.loadBalancer?.consistentHash !== undefined)
  );
}
