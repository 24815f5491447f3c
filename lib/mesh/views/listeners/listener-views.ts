import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import { patchNames } from "../patch-selection.ts";
import type { RuleSelection } from "../rule-selection.ts";
import { type InputNames, itself, sameForAll, viewKey } from "../view-key.ts";
import type {
  ClassProxy,
  EnvoyFilterPatches,
  GatewayRouteView,
  InboundView,
  ListenerLookups,
  ListenerOptions,
  ListenerScope,
  ListenerView,
  OutboundListenerView,
  TracingView,
  View,
  WorkloadPolicies,
} from "../views.ts";
import type { CalledPolicies } from "./called-policies.ts";
import { callingPolicies, policyNames } from "./workload-policies.ts";

interface OutboundInputs {
  readonly proxy: ClassProxy;
  readonly rules: RuleSelection;
  readonly lookups: ListenerLookups;
  readonly scope: ListenerScope;
  readonly sourceLabels: Readonly<Record<string, string>>;
  readonly policies: WorkloadPolicies;
  readonly calledPolicies: CalledPolicies;
  readonly tracing: TracingView;
  readonly options: ListenerOptions;
  readonly ownAddresses: readonly string[];
}

const outboundNames: InputNames<OutboundInputs> = {
  proxy: itself,
  rules: ({ names }) => names,
  lookups: sameForAll,
  scope: ({ id }) => id,
  sourceLabels: itself,
  policies: policyNames,
  calledPolicies: ({ key }) => key(),
  tracing: itself,
  options: itself,
  ownAddresses: itself,
};

const outboundListenerView = query(
  "outbound listener view",
  { ownAddresses: "value" },
  (inputs: OutboundInputs): OutboundListenerView => {
    const { rules, calledPolicies, ...fields } = inputs;
    return {
      ...fields,
      key: viewKey(outboundNames, inputs),
      destinationRule: rules.destinationRule,
      calledPolicies: calledPolicies.byNamespace,
    };
  },
);

interface ListenerInputs {
  readonly outbound: OutboundListenerView;
  readonly policies: WorkloadPolicies;
  readonly patches: EnvoyFilterPatches;
  readonly inbound: InboundView & View;
  readonly gateway: (GatewayRouteView & View) | undefined;
}

const listenerNames: InputNames<ListenerInputs> = {
  outbound: ({ key }) => key(),
  policies: policyNames,
  patches: patchNames,
  inbound: ({ key }) => key(),
  gateway: (gateway) => gateway?.key(),
};

const wholeListenerView = query("listener view", (inputs: ListenerInputs): ListenerView => {
  const { outbound, patches, ...fields } = inputs;
  return { ...outbound, ...fields, key: viewKey(listenerNames, inputs), outbound, envoyFilters: patches };
});

export function listenerView(
  outbound: Omit<OutboundInputs, "policies">,
  besides: Omit<ListenerInputs, "outbound">,
  memo: Memo,
): ListenerView {
  const { policies } = besides;
  const calling = callingPolicies(policies, outbound.calledPolicies.any, memo);
  return wholeListenerView(memo, {
    ...besides,
    outbound: outboundListenerView(memo, { ...outbound, policies: calling }),
  });
}
