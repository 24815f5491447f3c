import { column } from "../../incremental/column.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { Service } from "../../registry/service.ts";
import type { MeshDestinationRule } from "../index/destination-rule-index.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { patchNames } from "./patch-selection.ts";
import type { RuleSelection } from "./rule-selection.ts";
import { selfNames } from "./self-discovery.ts";
import { type InputNames, itself, sameForAll, viewKey } from "./view-key.ts";
import type {
  ClassProxy,
  EndpointPerspective,
  EndpointView,
  MeshLookups,
  OutboundClusterView,
  OwnClusterView,
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

interface OutboundKeyInputs extends Omit<OutboundInputs, "rules" | "lookups" | "scope"> {
  readonly rules: RuleSelection["names"];
  /** Its id. */
  readonly scope: string;
}

/** What all proxies see the same keeps its place in keys. */
const outboundNames: InputNames<OutboundKeyInputs & { readonly lookups: undefined }> = {
  proxy: itself,
  rules: itself,
  lookups: sameForAll,
  scope: itself,
  perspective: itself,
  containsAutoPassthrough: itself,
  tlsClientFiles: itself,
};

/** Apart from the view: a change of endpoints makes new views, under their old keys. */
const outboundKey = query(
  "key of an outbound cluster view",
  { rules: "value", tlsClientFiles: "value" },
  (inputs: OutboundKeyInputs) => viewKey(outboundNames, { ...inputs, lookups: undefined }),
);

export const outboundClusterView = query(
  "outbound cluster view",
  { tlsClientFiles: "value" },
  ({ lookups, rules, scope, ...named }: OutboundInputs, memo: Memo): OutboundClusterView => {
    const { perspective, ...fields } = named;
    const key = outboundKey(memo, { ...named, rules: rules.names, scope: scope.id });
    return { ...fields, key, endpoints: endpointView({ lookups, rules, scope, perspective }, memo) };
  },
);

export const ownClusterView = query(
  "own cluster view",
  { keyServers: "value" },
  (view: OwnClusterView): OwnClusterView => view,
);

interface ClusterKeyInputs {
  /** Of the outbound view, whose key stays when endpoints change. */
  readonly outbound: OutboundClusterView["key"];
  readonly own: OwnClusterView;
}

type ClusterNameInputs = Omit<OwnClusterView, "proxy"> & { readonly outbound: View["key"] };

const clusterNames: InputNames<ClusterNameInputs> = {
  outbound: (key) => key(),
  patches: patchNames,
  inbound: ({ key }) => key(),
  self: selfNames,
  keyServers: (servers) => (servers.length === 0 ? undefined : servers),
};

/** The keys of cluster views, one for each proxy. */
export const clusterKeys = column(
  "keys of cluster views",
  ["own", "outbound"],
  ({ outbound, own: { patches, inbound, self, keyServers } }: ClusterKeyInputs) =>
    viewKey(clusterNames, { outbound, patches, inbound, self, keyServers }),
);

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
const endpointKey = query("key of an endpoint view", (inputs: EndpointKeyInputs) => viewKey(endpointNames, inputs));

const wholeEndpointView = query("endpoint view", (inputs: EndpointInputs, memo: Memo): EndpointView => {
  const { lookups, services, serviceByHostname, destinationRules, rules, perspective } = inputs;
  return {
    key: endpointKey(memo, { services, destinationRules, rules, perspective }),
    lookups,
    scope: { services, serviceByHostname, destinationRules },
    destinationRule: rules.destinationRule,
    perspective,
  };
});

export function endpointView(
  { scope, ...inputs }: Pick<EndpointInputs, "lookups" | "rules" | "perspective"> & { readonly scope: ServiceScope },
  memo: Memo,
): EndpointView {
  const { services, serviceByHostname, destinationRules } = scope;
  return wholeEndpointView(memo, { ...inputs, services, serviceByHostname, destinationRules });
}
