import type { Labels } from "../../config/values/labels.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import type { Mesh } from "../mesh.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { type GatewaySelection, selectGateways } from "./gateway-view.ts";
import { type CalledPolicies, selectCalledPolicies } from "./listeners/called-policies.ts";
import { listenerLookupsOf } from "./listeners/listener-lookups.ts";
import { ownAddressesFor } from "./listeners/listener-options.ts";
import { labelsOf, type ProxyAnswers } from "./proxies/proxy-answers.ts";
import { sourceLabelsOf } from "./proxies/source-labels.ts";
import { TrackedWorkload } from "./proxies/tracked-workload.ts";
import type { ListenerLookups } from "./views.ts";

/**
 * What VirtualServices and endpoints decide for an Envoy. It reads little of the proxy, usually nothing of a sidecar: all proxies of a scope
 * share one context.
 */
export interface ScopeContext {
  /** Of a gateway that some Gateway applies to. */
  readonly gateway: GatewaySelection | undefined;
  readonly sourceLabels: Labels;
  readonly calledPolicies: CalledPolicies;
  readonly lookups: ListenerLookups;
  /** Those that its listeners leave out. */
  readonly ownAddresses: readonly string[];
}

interface ScopeContextInputs {
  readonly mesh: Mesh;
  readonly scope: SidecarScope;
  readonly isGateway: boolean;
}

export const scopeContextOf = trackedQuery(
  "surroundings of a proxy",
  ({ mesh, scope, isGateway }: ScopeContextInputs, node: ProxyAnswers, memo: Memo): ScopeContext => {
    const labels = labelsOf(node);
    const gateway = isGateway ? selectGateways(mesh, node, labels, memo) : undefined;
    const { rootNamespace } = mesh.config;
    const workload = () => new TrackedWorkload(node, { labels, rootNamespace, sidecar: scope.sidecar });
    return scopeContext(memo, {
      gateway,
      sourceLabels: sourceLabelsOf(scope, gateway, labels, memo),
      calledPolicies: selectCalledPolicies(mesh, workload, scope, memo),
      lookups: listenerLookupsOf(mesh, scope, memo),
      ownAddresses: isGateway ? [] : ownAddressesFor(mesh, node, scope, memo),
    });
  },
);

/** Interned: a change of VirtualServices rebuilds scopes, but few of their contexts. */
const scopeContext = query("surroundings", { ownAddresses: "value" }, (parts: ScopeContext): ScopeContext => parts);
