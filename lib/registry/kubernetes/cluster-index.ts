import type { LabelSelector } from "../../config/kinds/selector.ts";
import type { StatedEndpoints } from "../../config/kinds/stated-endpoints.ts";
import { ShardedMap } from "../changes/sharded-map.ts";
import { networkLabel } from "../labels.ts";
import type { ClusterNetworks } from "../networks.ts";
import type { Endpoint } from "../service.ts";
import { isDiscovered, type Namespace } from "./namespace.ts";
import type { Node } from "./node.ts";
import { type KubernetesObject, objectNamespace } from "./object.ts";
import type { Pod } from "./pods/pod.ts";
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
  /** Where pods listen that only templates stand for. */
  readonly statedEndpoints: readonly StatedEndpoints[];
}

/** A slice and what became of it. */
export interface ConvertedSlice {
  readonly object: KubernetesObject;
  readonly endpoints: readonly Endpoint[];
}

/** The endpoints of one service, from all its slices; from its pods where it has none. */
export interface SlicedService {
  readonly service: KubernetesService;
  readonly slices: readonly ConvertedSlice[];
  readonly endpoints: readonly Endpoint[];
  /** Named by a slice, but not there. */
  readonly unknownPods: readonly string[];
  /** Templates behind it of which nobody says where their pods listen. */
  readonly unplaced: readonly string[];
  /** Stated hosts whose port is the target of none of its ports. */
  readonly unusableHosts: readonly string[];
}

/** A workload that makes pods of which none is known, and the pod that stands for them. */
export interface TemplatePod {
  readonly template: KubernetesObject;
  readonly pod: Pod;
}

/** One cluster's objects, converted and indexed: immutable, and cheap to derive a changed one from. */
export interface ClusterIndex {
  readonly context: ClusterContext;
  /** Whether two objects have one kind and name: the later one counts, and which one that is no change says. */
  readonly namesTwice: boolean;
  readonly settings: ClusterSettings;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly namespaces: ReadonlyMap<string, Namespace>;
  /** By `namespace/name`. */
  readonly pods: ShardedMap<Pod>;
  /** Namespace → name → pod. */
  readonly podsByNamespace: ReadonlyMap<string, ReadonlyMap<string, Pod>>;
  /** Live pods by each of their addresses, sorted by namespace and name. */
  readonly podsByAddress: ShardedMap<readonly Pod[]>;
  /** Namespace → `kind/name` → a workload that makes pods. */
  readonly templates: ReadonlyMap<string, ReadonlyMap<string, KubernetesObject>>;
  /** Namespace → name of the pod → stand-in, sorted by name; no namespace without any. */
  readonly templatePods: ReadonlyMap<string, ReadonlyMap<string, TemplatePod>>;
  /** By `namespace/name`. */
  readonly services: ShardedMap<KubernetesService>;
  /** Sorted by name. */
  readonly servicesByNamespace: ReadonlyMap<string, readonly KubernetesService[]>;
  /** By `namespace/name` of the service, sorted by name; also those whose service is not there. */
  readonly slices: ShardedMap<readonly KubernetesObject[]>;
  /** Pod key or address → services (`namespace/name`) whose slices name it. */
  readonly referrers: ShardedMap<readonly string[]>;
  /** By `namespace/name` of the service; those only of whose endpoints there is something to say. */
  readonly sliced: ShardedMap<SlicedService>;
  /** Services among `sliced` that are not all known: of pods, templates or stated hosts. */
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
    namesTwice: false,
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
    templates: new Map(),
    templatePods: new Map(),
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
