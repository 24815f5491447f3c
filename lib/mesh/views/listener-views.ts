import type { Memo } from "../memo/memo.ts";
import { oneList } from "../memo/same.ts";
import { step } from "../memo/step.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import type { CalledPolicies } from "./called-policies.ts";
import { objectNames } from "./object-names.ts";
import { patchNames } from "./patch-selection.ts";
import type { RuleSelection } from "./rule-selection.ts";
import { type InputNames, itself, sameForAll, viewKey } from "./view-key.ts";
import type {
  ClassProxy,
  EnvoyFilterPatches,
  GatewayRouteView,
  InboundView,
  ListenerLookups,
  ListenerOptions,
  ListenerView,
  OutboundListenerView,
  TracingView,
  View,
  WorkloadPolicies,
} from "./views.ts";

const workloadPolicies = step(
  "workload policies",
  {
    authorization: "identity",
    requestAuthentication: "identity",
    telemetry: "identity",
    wasmPlugins: "identity",
    trafficExtensions: "identity",
  },
  (policies: WorkloadPolicies): WorkloadPolicies => policies,
);

/** The same object for the same policies. */
function onePolicies(policies: WorkloadPolicies, memo: Memo): WorkloadPolicies {
  return workloadPolicies(memo, {
    authorization: oneList(memo, policies.authorization),
    requestAuthentication: oneList(memo, policies.requestAuthentication),
    telemetry: oneList(memo, policies.telemetry),
    wasmPlugins: oneList(memo, policies.wasmPlugins),
    trafficExtensions: oneList(memo, policies.trafficExtensions),
  });
}

const policyNames = (policies: WorkloadPolicies) => [
  objectNames(policies.authorization),
  objectNames(policies.requestAuthentication),
  objectNames(policies.telemetry),
  objectNames(policies.wasmPlugins),
  objectNames(policies.trafficExtensions),
];

interface OutboundInputs {
  readonly proxy: ClassProxy;
  readonly rules: RuleSelection;
  readonly lookups: ListenerLookups;
  readonly scope: SidecarScope;
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
  calledPolicies: ({ key }) => key,
  tracing: itself,
  options: itself,
  ownAddresses: itself,
};

const outboundListenerView = step(
  "outbound listener view",
  {
    proxy: "identity",
    rules: "identity",
    lookups: "identity",
    scope: "identity",
    sourceLabels: "identity",
    policies: "identity",
    calledPolicies: "identity",
    tracing: "identity",
    options: "identity",
    ownAddresses: "value",
  },
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
  outbound: ({ key }) => key,
  policies: policyNames,
  patches: patchNames,
  inbound: ({ key }) => key,
  gateway: (gateway) => gateway?.key,
};

const wholeListenerView = step(
  "listener view",
  { outbound: "identity", policies: "identity", patches: "identity", inbound: "identity", gateway: "identity" },
  (inputs: ListenerInputs): ListenerView => {
    const { outbound, patches, ...fields } = inputs;
    return { ...outbound, ...fields, key: viewKey(listenerNames, inputs), outbound, envoyFilters: patches };
  },
);

/** Policies about callers count on the way out only in front of hosts that are resolved at run time. */
export function listenerView(
  outbound: Omit<OutboundInputs, "policies">,
  { policies, ...besides }: Omit<ListenerInputs, "outbound">,
  memo: Memo,
): ListenerView {
  const own = {
    ...policies,
    authorization: outbound.calledPolicies.any ? policies.authorization : [],
    requestAuthentication: [],
  };
  return wholeListenerView(memo, {
    ...besides,
    policies: onePolicies(policies, memo),
    outbound: outboundListenerView(memo, { ...outbound, policies: onePolicies(own, memo) }),
  });
}
