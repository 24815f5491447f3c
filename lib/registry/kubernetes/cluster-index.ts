import type { LabelSelector } from "../../config/kinds/selector.ts";
import { networkLabel } from "../labels.ts";
import type { ClusterNetworks } from "../networks.ts";
import type { Endpoint } from "../service.ts";
import { ShardedMap } from "../sharded-map.ts";
import { isDiscovered, type Namespace } from "./namespace.ts";
import type { Node } from "./node.ts";
import { type KubernetesObject, objectNamespace } from "./object.ts";
import type { Pod } from "./pod.ts";
import type { KubernetesService } from "./service.ts";
import type { ClusterSettings } from "./settings.ts";

/** What a cluster's index is made under; another value means making it anew. */
export interface ClusterContext {
  readonly clusterId: string;
  readonly domain: string;
  readonly trustDomain: string;
  /** Network that the source states for the cluster; "" leaves it to the label of the system namespace. */
  readonly network: string;
  readonly networks: ClusterNetworks;
  readonly systemNamespace: string;
  readonly discoverySelectors: readonly LabelSelector[];
}

/** A slice and what became of it. */
export interface ConvertedSlice {
  readonly object: KubernetesObject;
  readonly endpoints: readonly Endpoint[];
}

/** The endpoints of one service, from all its slices. */
export interface SlicedService {
  readonly service: KubernetesService;
  readonly slices: readonly ConvertedSlice[];
  readonly endpoints: readonly Endpoint[];
  /** Named by a slice, but not there. */
  readonly unknownPods: readonly string[];
}

/** One cluster's objects, converted and indexed: immutable, and cheap to derive a changed one from. */
export interface ClusterIndex {
  readonly context: ClusterContext;
  readonly settings: ClusterSettings;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly namespaces: ReadonlyMap<string, Namespace>;
  /** By `namespace/name`. */
  readonly pods: ShardedMap<Pod>;
  /** Namespace → name → pod. */
  readonly podsByNamespace: ReadonlyMap<string, ReadonlyMap<string, Pod>>;
  /** Live pods by each of their addresses, sorted by namespace and name. */
  readonly podsByAddress: ShardedMap<readonly Pod[]>;
  /** By `namespace/name`. */
  readonly services: ShardedMap<KubernetesService>;
  /** Sorted by name. */
  readonly servicesByNamespace: ReadonlyMap<string, readonly KubernetesService[]>;
  /** By `namespace/name` of the service, sorted by name; also those whose service is not there. */
  readonly slices: ShardedMap<readonly KubernetesObject[]>;
  /** Pod key or address → services (`namespace/name`) whose slices name it. */
  readonly referrers: ShardedMap<readonly string[]>;
  /** By `namespace/name` of the service; those with slices only. */
  readonly sliced: ShardedMap<SlicedService>;
  /** Services among `sliced` with unknown pods. */
  readonly incomplete: ReadonlySet<string>;
}

/** An index of nothing, in a cluster that is described by its nodes and namespaces only. */
export function emptyIndex(
  context: ClusterContext,
  nodes: ReadonlyMap<string, Node>,
  namespaces: ReadonlyMap<string, Namespace>,
): ClusterIndex {
  const stated = namespaces.get(context.systemNamespace)?.labels[networkLabel] ?? "";
  return {
    context,
    settings: {
      clusterId: context.clusterId,
      domain: context.domain,
      trustDomain: context.trustDomain,
      networks: context.networks,
      network: context.network || stated,
    },
    nodes,
    namespaces,
    pods: ShardedMap.empty(),
    podsByNamespace: new Map(),
    podsByAddress: ShardedMap.empty(),
    services: ShardedMap.empty(),
    servicesByNamespace: new Map(),
    slices: ShardedMap.empty(),
    referrers: ShardedMap.empty(),
    sliced: ShardedMap.empty(),
    incomplete: new Set(),
  };
}

/** Is the object in a namespace that the mesh reads? */
export function discovered(index: ClusterIndex, object: KubernetesObject): boolean {
  const { discoverySelectors } = index.context;
  if (discoverySelectors.length === 0) return true;
  return isDiscovered(discoverySelectors, index.namespaces.get(objectNamespace(object)));
}
