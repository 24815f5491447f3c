import type { Service } from "../../registry/service.ts";
import type { MeshDestinationRule } from "../index/destination-rule-index.ts";
import type { Memo } from "../memo/memo.ts";
import { step } from "../memo/step.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { patchNames } from "./patch-selection.ts";
import type { RuleSelection } from "./rule-selection.ts";
import { type InputNames, itself, sameForAll, viewKey } from "./view-key.ts";
import type {
  ClassProxy,
  ClusterView,
  EndpointPerspective,
  EndpointView,
  EnvoyFilterPatches,
  MeshLookups,
  OutboundClusterView,
  ServedView,
  ServiceScope,
  View,
} from "./views.ts";

interface OutboundInputs {
  readonly proxy: ClassProxy;
  readonly rules: RuleSelection;
  readonly lookups: MeshLookups;
  readonly scope: ServiceScope;
  readonly perspective: EndpointPerspective;
  readonly containsAutoPassthrough: boolean;
  readonly tlsClientFiles: Readonly<Record<string, string>>;
}

const outboundNames: InputNames<OutboundInputs> = {
  proxy: itself,
  rules: ({ names }) => names,
  lookups: sameForAll,
  scope: ({ id }) => id,
  perspective: itself,
  containsAutoPassthrough: itself,
  tlsClientFiles: itself,
};

export const outboundClusterView = step(
  "outbound cluster view",
  {
    proxy: "identity",
    rules: "identity",
    lookups: "identity",
    scope: "identity",
    perspective: "identity",
    containsAutoPassthrough: "value",
    tlsClientFiles: "value",
  },
  (inputs: OutboundInputs): OutboundClusterView => {
    const { rules, ...fields } = inputs;
    return { ...fields, key: viewKey(outboundNames, inputs), destinationRule: rules.destinationRule };
  },
);

interface ClusterInputs {
  readonly outbound: OutboundClusterView;
  readonly patches: EnvoyFilterPatches;
  readonly inbound: ServedView & View;
}

const clusterNames: InputNames<ClusterInputs> = {
  outbound: ({ key }) => key(),
  patches: patchNames,
  inbound: ({ key }) => key(),
};

const wholeClusterView = step(
  "cluster view",
  { outbound: "identity", patches: "identity", inbound: "identity" },
  (inputs: ClusterInputs): ClusterView => {
    const { outbound, patches, inbound } = inputs;
    return { ...outbound, key: viewKey(clusterNames, inputs), outbound, envoyFilters: patches, inbound };
  },
);

export function clusterView(
  outbound: OutboundInputs,
  besides: Omit<ClusterInputs, "outbound">,
  memo: Memo,
): ClusterView {
  return wholeClusterView(memo, { ...besides, outbound: outboundClusterView(memo, outbound) });
}

interface EndpointInputs {
  readonly lookups: MeshLookups;
  readonly services: readonly Service[];
  readonly serviceByHostname: SidecarScope["serviceByHostname"];
  readonly destinationRules: SidecarScope["destinationRules"];
  readonly rules: RuleSelection;
  readonly perspective: EndpointPerspective;
}

type EndpointKeyInputs = Omit<EndpointInputs, "lookups" | "serviceByHostname">;

const endpointNames: InputNames<EndpointKeyInputs> = {
  services: (services) =>
    services.map(({ hostname, attributes, ports }) => [
      attributes.namespace,
      hostname,
      ...ports.map(({ port }) => port),
    ]),
  destinationRules: (rules) => [...rules].map(([host, candidates]) => [host, ...candidates.map(ruleName)]),
  rules: ({ names }) => names,
  perspective: itself,
};

const ruleName = ({ from }: MeshDestinationRule): readonly string[] =>
  from.map(({ namespace, name }) => `${namespace}/${name}`);

/** Apart from the view: a change of endpoints makes new views of all classes, under their old keys. */
const endpointKey = step(
  "key of an endpoint view",
  { services: "identity", destinationRules: "identity", rules: "identity", perspective: "identity" },
  (inputs: EndpointKeyInputs) => viewKey(endpointNames, inputs),
);

const wholeEndpointView = step(
  "endpoint view",
  {
    lookups: "identity",
    services: "identity",
    serviceByHostname: "identity",
    destinationRules: "identity",
    rules: "identity",
    perspective: "identity",
  },
  (inputs: EndpointInputs, memo: Memo): EndpointView => {
    const { lookups, services, serviceByHostname, destinationRules, rules, perspective } = inputs;
    return {
      key: endpointKey(memo, { services, destinationRules, rules, perspective }),
      lookups,
      scope: { services, serviceByHostname, destinationRules },
      destinationRule: rules.destinationRule,
      perspective,
    };
  },
);

export function endpointView(
  { scope, ...inputs }: Pick<EndpointInputs, "lookups" | "rules" | "perspective"> & { readonly scope: ServiceScope },
  memo: Memo,
): EndpointView {
  const { services, serviceByHostname, destinationRules } = scope;
  return wholeEndpointView(memo, { ...inputs, services, serviceByHostname, destinationRules });
}
