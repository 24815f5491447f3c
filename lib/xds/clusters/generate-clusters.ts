import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { column } from "../../incremental/column.ts";
import { internLongList } from "../../incremental/keep-identity.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { EnvoyColumns } from "../../mesh/views/view-columns.ts";
import type {
  ClassProxy,
  DynamicDns,
  EndpointView,
  MeshLookups,
  OutboundClusterView,
  OwnClusterView,
  RuleLookup,
} from "../../mesh/views/views.ts";
import type { Endpoint, Service } from "../../registry/service.ts";
import { resolvedHosts } from "../dynamic-dns.ts";
import { type EndpointContext, endpointContext, endpointContextInputs } from "../endpoints/endpoint-context.ts";
import { provenanceOf } from "../provenance.ts";
import { ownBeside, type Resource, uniqueByName } from "../resource.ts";
import { blackHole, inboundPassthrough, passthrough } from "./built-in-clusters.ts";
import { type ClusterClass, clusterClassOf } from "./cluster-class.ts";
import type { OutboundService } from "./cluster-draft.ts";
import { inboundClusters } from "./inbound-clusters.ts";
import { keyServer } from "./key-servers.ts";
import { outboundClusters } from "./outbound-clusters.ts";
import type { SeenByProxy } from "./seen-by-proxy.ts";

type ClusterResource = Resource<ClusterJson>;

type Lists = readonly (readonly ClusterResource[])[];

/** Of each class those outbound, which are shared, and its own. */
export interface ClusterColumns {
  readonly shared: readonly (readonly ClusterResource[])[];
  readonly own: readonly (readonly ClusterResource[])[];
}

/**
 * The clusters of classes of proxies: those outbound are shared, those inbound a class's own. Where both have a name, the outbound one
 * stays.
 *
 * @param slot tells lists of classes apart when they are found again
 * @see docs/how-istio-does-it/clusters.md#which-clusters
 */
export function generateClusters(
  views: Pick<EnvoyColumns, "own" | "outbound">,
  memo: Memo,
  slot: string,
): ClusterColumns {
  const shared = outboundSides(memo, slot, { view: views.outbound });
  const proxies = clusterClasses(memo, slot, { view: views.outbound });
  return { shared, own: ownSides(memo, slot, { own: views.own, shared, proxies }) };
}

interface OutboundRow {
  readonly view: OutboundClusterView;
}

const outboundSides = column("outbound clusters of classes", ["view"], ({ view }: OutboundRow, memo: Memo) =>
  outboundSide(memo, { view }),
);

const clusterClasses = column("cluster classes of classes", ["view"], ({ view }: OutboundRow, memo: Memo) =>
  clusterClassOf(view, memo),
);

interface OwnRow {
  readonly own: OwnClusterView;
  /** Those outbound. */
  readonly shared: readonly ClusterResource[];
  readonly proxies: ClusterClass;
}

const ownSides = column(
  "own clusters of classes",
  ["own", "shared", "proxies"],
  ({ own: { inbound, keyServers, proxy }, shared, proxies }: OwnRow, memo: Memo): readonly ClusterResource[] => {
    const served = inboundClusters(memo, { inbound, proxies, interceptionMode: proxy.interceptionMode });
    const others =
      keyServers.length === 0
        ? served
        : internLongList(memo, "own clusters", [...served, ...keyServerClusters(memo, { keyServers, proxies })]);
    return ownBeside({ shared, others }, memo);
  },
);

const keyServerClusters = query(
  "clusters of key servers",
  { keyServers: "value" },
  ({ keyServers, proxies }: Pick<OwnClusterView, "keyServers"> & Pick<OwnRow, "proxies">): readonly ClusterResource[] =>
    keyServers.map((server) => {
      const json = keyServer(server, proxies);
      return { name: json.name ?? "", json, from: [] };
    }),
);

/** Everything but the inbound side. */
const outboundSide = query("outbound clusters", ({ view }: { readonly view: OutboundClusterView }, memo: Memo) => {
  const proxies = clusterClassOf(view, memo);
  const proxyType = view.proxy.type;
  const ofServices = (mode: OutboundService["mode"]) =>
    clustersOfScope(memo, { view: view.endpoints, proxies, proxyType, mode });
  const lists = [
    ofServices("default"),
    builtInClusters(memo, { proxies, proxyType, dynamicDns: view.proxy.dynamicDns }),
  ];
  if (view.containsAutoPassthrough) lists.push(ofServices("sniDnat"));
  return joined(memo, { lists });
});

/** One list for all namespaces that see the same: what is made of it is made once. */
const joined = query("joined clusters", { lists: "elements" }, ({ lists }: { readonly lists: Lists }, memo: Memo) =>
  internLongList(memo, "clusters", uniqueByName(lists.flat())),
);

interface BuiltIn extends Pick<ServiceContext, "proxies" | "proxyType"> {
  readonly dynamicDns: DynamicDns | undefined;
}

const builtInClusters = query(
  "built-in clusters",
  { dynamicDns: "value" },
  ({ proxies, proxyType, dynamicDns }: BuiltIn): readonly ClusterResource[] => {
    const clusters =
      proxyType === "router"
        ? [blackHole(proxies)]
        : [
            blackHole(proxies),
            passthrough(proxies),
            ...(dynamicDns === undefined ? [] : [resolvedHosts(dynamicDns, proxies)]),
            inboundPassthrough(proxies),
          ];
    return clusters.map((json) => ({ name: json.name ?? "", json, from: [] }));
  },
);

interface ScopeInputs extends Pick<ServiceContext, "proxies" | "proxyType" | "mode"> {
  readonly view: EndpointView;
}

/**
 * Gone over once for all namespaces that see the same services and rules. Most changes touch a few services, so the others are not even
 * asked what they are made from.
 */
const clustersOfScope = query("clusters of a scope", ({ view, proxies, proxyType, mode }: ScopeInputs, memo: Memo) => {
  const { lookups, destinationRule, scope } = view;
  const { serviceAccounts, serviceMtlsMode } = lookups;
  const seen = endpointContext(memo, endpointContextInputs(view, true));
  const context = { proxies, proxyType, seen, destinationRule, serviceAccounts, serviceMtlsMode, mode };
  const services = mode === "default" ? scope.services : scope.services.filter((service) => !service.meshExternal);
  const slot = (): string => `${mode}|${proxyType}|${proxies.preserveHeaderCase}|${proxies.build ?? ""}|${view.key()}`;
  return flat(memo, { lists: clustersOfServices(memo, slot, services, context, lookups.endpoints) });
});

const flat = query("flat clusters", ({ lists }: { readonly lists: Lists }) => lists.flat());

interface ServiceContext extends Pick<MeshLookups, "serviceAccounts" | "serviceMtlsMode"> {
  readonly proxies: ClusterClass;
  readonly proxyType: ClassProxy["type"];
  readonly seen: EndpointContext;
  readonly destinationRule: RuleLookup;
  readonly mode: OutboundService["mode"];
}

const clustersOfServices = mappedList(
  "clusters of services",
  (service: Service, endpoints: readonly Endpoint[], context: ServiceContext, memo: Memo) => {
    // Routes to an alias lead to the cluster of what it stands for.
    if (service.resolution === "Alias") return [];
    const { proxies, proxyType, seen, mode } = context;
    const inputs = {
      proxies,
      service,
      rule: context.destinationRule(service),
      accounts: context.serviceAccounts(service, endpoints),
      mtlsModes: service.ports.map((port) => context.serviceMtlsMode(service, port)),
      mode,
    };
    return clustersOfService(memo, inputs, { endpoints, endpointContext: seen, proxyType }).value;
  },
);

interface ServiceInputs extends Omit<OutboundService, "seen"> {
  readonly proxies: ClusterClass;
  readonly rule: MeshDestinationRule | undefined;
}

/** Made once for all proxies that are alike in what the service's clusters ask; a change of endpoints leaves clusters alone that look at none. */
const clustersOfService = trackedQuery(
  "clusters of a service",
  { accounts: "value", mtlsModes: "value" },
  (
    { proxies, service, rule, accounts, mtlsModes, mode }: ServiceInputs,
    seen: SeenByProxy,
  ): readonly ClusterResource[] => {
    const from = provenanceOf(service, rule);
    const clusters = outboundClusters({ service, rule, accounts, mtlsModes, mode, seen }, proxies);
    return clusters.map((json) => ({ name: json.name ?? "", json, from }));
  },
  { endpoints: true, endpointContext: true, proxyType: true },
);
