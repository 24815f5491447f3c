import { byCodePoint } from "../../config/diagnostic.ts";
import type { LabelSelector } from "../../config/kinds/selector.ts";
import { networkLabel } from "../labels.ts";
import type { ClusterNetworks } from "../networks.ts";
import { keepSameItems, sameValue } from "../same.ts";
import type { Endpoint } from "../service.ts";
import { ShardedMap } from "../sharded-map.ts";
import { type PodLookup, sliceEndpoints, slicePodReferences, sliceServiceName } from "./endpoint-slice.ts";
import { isDiscovered, type Namespace, namespaceOf } from "./namespace.ts";
import { type Node, nodeOf, sameNode } from "./node.ts";
import { type KubernetesObject, objectKey, objectNamespace, textOf } from "./object.ts";
import { type Pod, podOf } from "./pod.ts";
import { type KubernetesService, serviceOf } from "./service.ts";
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
interface ConvertedSlice {
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

/** Objects that went and came; a changed one did both. */
export interface ObjectChanges {
  readonly removed: readonly KubernetesObject[];
  readonly added: readonly KubernetesObject[];
}

/** Changes by kind. */
type KindChanges = ReadonlyMap<string, ObjectChanges>;

const noChanges: ObjectChanges = { removed: [], added: [] };

function byKind({ removed, added }: ObjectChanges): KindChanges {
  const kinds = new Map<string, { removed: KubernetesObject[]; added: KubernetesObject[] }>();
  const changesOf = (kind: string) => {
    let changes = kinds.get(kind);
    if (changes === undefined) {
      changes = { removed: [], added: [] };
      kinds.set(kind, changes);
    }
    return changes;
  };
  for (const object of removed) changesOf(object.kind).removed.push(object);
  for (const object of added) changesOf(object.kind).added.push(object);
  return kinds;
}

/** What differs between two indexes of a cluster. */
export interface ClusterDifference {
  /** `namespace/name` of services that are other than before, new or gone. */
  readonly services: ReadonlySet<string>;
  /** The same for their endpoints. */
  readonly endpoints: ReadonlySet<string>;
  /** Pods that went and came. */
  readonly pods: readonly Pod[];
}

/** Of two indexes that say the same. */
export const noDifference: ClusterDifference = { services: new Set(), endpoints: new Set(), pods: [] };

export interface ClusterUpdate {
  readonly index: ClusterIndex;
  readonly difference: ClusterDifference;
}

/** An index of nothing, in a cluster that is described by its nodes and namespaces only. */
function emptyIndex(
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

function discovered(index: ClusterIndex, object: KubernetesObject): boolean {
  const { discoverySelectors } = index.context;
  if (discoverySelectors.length === 0) return true;
  return isDiscovered(discoverySelectors, index.namespaces.get(objectNamespace(object)));
}

function byObjectName(a: { readonly object: KubernetesObject }, b: { readonly object: KubernetesObject }): number {
  return byCodePoint(objectKey(a.object), objectKey(b.object));
}

/** The changes to the objects of a kind as writes to a map by key; undefined marks removal. */
function writes<T>(
  changes: KindChanges,
  kind: string,
  read: (object: KubernetesObject) => T | undefined,
): Map<string, T | undefined> {
  const { removed, added } = changes.get(kind) ?? noChanges;
  const out = new Map<string, T | undefined>();
  for (const object of removed) out.set(objectKey(object), undefined);
  for (const object of added) out.set(objectKey(object), read(object));
  return out;
}

/** Says whether two readings of a pod mean the same to every conversion. */
function samePod(a: Pod, b: Pod): boolean {
  return (
    a.live === b.live &&
    a.workloadName === b.workloadName &&
    sameValue(a.workload, b.workload) &&
    sameValue(a.object.spec, b.object.spec)
  );
}

interface PodsUpdate {
  readonly pods: ShardedMap<Pod>;
  readonly podsByNamespace: ReadonlyMap<string, ReadonlyMap<string, Pod>>;
  readonly podsByAddress: ShardedMap<readonly Pod[]>;
  /** Before and after, of those that mean something else now. */
  readonly changed: readonly Pod[];
}

function updatePods(index: ClusterIndex, changes: KindChanges): PodsUpdate {
  const net = writes(changes, "Pod", (object) =>
    discovered(index, object) ? podOf(object, index.nodes.get(textOf(nodeNameOf(object))), index.settings) : undefined,
  );
  if (index.pods.size === 0) return firstPods(net);
  const written: [string, Pod | undefined][] = [];
  const changed: Pod[] = [];
  const byAddress = new Map<string, Pod[]>();
  const listAt = (address: string): Pod[] => {
    let list = byAddress.get(address);
    if (list === undefined) {
      list = [...(index.podsByAddress.get(address) ?? [])];
      byAddress.set(address, list);
    }
    return list;
  };
  for (const [key, after] of net) {
    const before = index.pods.get(key);
    if (before === undefined ? after === undefined : after !== undefined && samePod(before, after)) continue;
    written.push([key, after]);
    if (before !== undefined) {
      changed.push(before);
      for (const address of before.live ? before.workload.addresses : []) {
        const list = listAt(address);
        list.splice(list.indexOf(before), 1);
      }
    }
    if (after !== undefined) {
      changed.push(after);
      for (const address of after.live ? after.workload.addresses : []) listAt(address).push(after);
    }
  }
  const addressChanges = [...byAddress].map(([address, list]) => {
    if (list.length > 1) list.sort(byObjectName);
    return [address, list.length === 0 ? undefined : list] as const;
  });
  return {
    pods: index.pods.with(written),
    podsByNamespace: withPods(index.podsByNamespace, written),
    podsByAddress: index.podsByAddress.with(addressChanges),
    changed,
  };
}

/** What `updatePods` comes to where there were no pods. */
function firstPods(read: ReadonlyMap<string, Pod | undefined>): PodsUpdate {
  const changed: Pod[] = [];
  const byKey = new Map<string, Pod>();
  const byAddress = new Map<string, Pod[]>();
  for (const [key, pod] of read) {
    if (pod === undefined) continue;
    changed.push(pod);
    byKey.set(key, pod);
    if (!pod.live) continue;
    for (const address of pod.workload.addresses) {
      const list = byAddress.get(address);
      if (list === undefined) byAddress.set(address, [pod]);
      else list.push(pod);
    }
  }
  for (const list of byAddress.values()) if (list.length > 1) list.sort(byObjectName);
  return {
    pods: ShardedMap.from(byKey),
    podsByNamespace: withPods(new Map(), byKey),
    podsByAddress: ShardedMap.from(byAddress),
    changed,
  };
}

/** The map of maps with the pods written; a namespace that nothing was written to keeps its map. */
function withPods(
  byNamespace: ReadonlyMap<string, ReadonlyMap<string, Pod>>,
  written: Iterable<readonly [string, Pod | undefined]>,
): ReadonlyMap<string, ReadonlyMap<string, Pod>> {
  const copied = new Map<string, Map<string, Pod>>();
  for (const [key, pod] of written) {
    const slash = key.indexOf("/");
    const namespace = key.slice(0, slash);
    let pods = copied.get(namespace);
    if (pods === undefined) {
      pods = new Map(byNamespace.get(namespace));
      copied.set(namespace, pods);
    }
    if (pod === undefined) pods.delete(key.slice(slash + 1));
    else pods.set(key.slice(slash + 1), pod);
  }
  return copied.size === 0 ? byNamespace : new Map([...byNamespace, ...copied]);
}

function nodeNameOf(object: KubernetesObject): unknown {
  const spec = object.spec;
  return typeof spec === "object" && spec !== null && "nodeName" in spec ? spec.nodeName : undefined;
}

interface ServicesUpdate {
  readonly services: ShardedMap<KubernetesService>;
  readonly servicesByNamespace: ReadonlyMap<string, readonly KubernetesService[]>;
  readonly changed: ReadonlySet<string>;
}

function updateServices(index: ClusterIndex, changes: KindChanges): ServicesUpdate {
  const net = writes(changes, "Service", (object) => {
    if (!discovered(index, object)) return undefined;
    const namespaceAnnotations = index.namespaces.get(objectNamespace(object))?.annotations ?? {};
    return serviceOf(object, { settings: index.settings, namespaceAnnotations, nodes: index.nodes });
  });
  const changed = new Map<string, KubernetesService | undefined>();
  const touched = new Map<string, Map<string, KubernetesService>>();
  for (const [key, after] of net) {
    const before = index.services.get(key);
    if (before === undefined && after === undefined) continue;
    if (before !== undefined && after !== undefined && sameService(before, after)) continue;
    changed.set(key, after);
    const namespace = key.slice(0, key.indexOf("/"));
    let list = touched.get(namespace);
    if (list === undefined) {
      list = new Map((index.servicesByNamespace.get(namespace) ?? []).map((known) => [objectKey(known.object), known]));
      touched.set(namespace, list);
    }
    if (after === undefined) list.delete(key);
    else list.set(key, after);
  }
  if (changed.size === 0) {
    return { services: index.services, servicesByNamespace: index.servicesByNamespace, changed: new Set() };
  }
  const servicesByNamespace = new Map(index.servicesByNamespace);
  for (const [namespace, list] of touched) servicesByNamespace.set(namespace, [...list.values()].sort(byObjectName));
  return { services: index.services.with(changed), servicesByNamespace, changed: new Set(changed.keys()) };
}

/** A write that leaves everything but the version of the object as it was changes no service. */
function sameService(a: KubernetesService, b: KubernetesService): boolean {
  return (
    sameValue(a.ports, b.ports) &&
    sameValue({ ...a.service, resourceVersion: "" }, { ...b.service, resourceVersion: "" })
  );
}

interface SlicesUpdate {
  readonly slices: ShardedMap<readonly KubernetesObject[]>;
  readonly referrers: ShardedMap<readonly string[]>;
  /** Services whose slices are other than before. */
  readonly changed: ReadonlySet<string>;
}

function updateSlices(index: ClusterIndex, changes: KindChanges): SlicesUpdate {
  const byService = new Map<string, Map<string, KubernetesObject>>();
  const slicesOf = (serviceKey: string): Map<string, KubernetesObject> => {
    let slices = byService.get(serviceKey);
    if (slices === undefined) {
      slices = new Map((index.slices.get(serviceKey) ?? []).map((slice) => [objectKey(slice), slice]));
      byService.set(serviceKey, slices);
    }
    return slices;
  };
  const serviceKeyOf = (slice: KubernetesObject): string | undefined => {
    const name = sliceServiceName(slice);
    return name === "" ? undefined : `${objectNamespace(slice)}/${name}`;
  };
  const { removed, added } = changes.get("EndpointSlice") ?? noChanges;
  for (const slice of removed) {
    const key = serviceKeyOf(slice);
    if (key !== undefined) slicesOf(key).delete(objectKey(slice));
  }
  for (const slice of added) {
    const key = serviceKeyOf(slice);
    if (key !== undefined && discovered(index, slice)) slicesOf(key).set(objectKey(slice), slice);
  }
  const written: [string, readonly KubernetesObject[] | undefined][] = [];
  const referrers = new Map<string, readonly string[]>();
  const referrersOf = (reference: string): readonly string[] =>
    referrers.get(reference) ?? index.referrers.get(reference) ?? [];
  for (const [serviceKey, slices] of byService) {
    const before = new Set((index.slices.get(serviceKey) ?? []).flatMap(slicePodReferences));
    const after = new Set([...slices.values()].flatMap(slicePodReferences));
    for (const reference of before) {
      if (after.has(reference)) continue;
      referrers.set(
        reference,
        referrersOf(reference).filter((key) => key !== serviceKey),
      );
    }
    for (const reference of after) {
      if (!before.has(reference)) referrers.set(reference, [...referrersOf(reference), serviceKey]);
    }
    const sorted = [...slices.values()].sort((a, b) => byCodePoint(objectKey(a), objectKey(b)));
    written.push([serviceKey, sorted.length === 0 ? undefined : sorted]);
  }
  return {
    slices: index.slices.with(written),
    referrers: index.referrers.with(
      [...referrers].map(([reference, keys]) => [reference, keys.length === 0 ? undefined : keys] as const),
    ),
    changed: new Set(byService.keys()),
  };
}

function podLookup(index: ClusterIndex): PodLookup {
  return {
    byKey: (key) => index.pods.get(key),
    byAddress: (address, namespace) => {
      const pods = index.podsByAddress.get(address) ?? [];
      return pods.find((pod) => pod.workload.namespace === namespace) ?? pods[0];
    },
  };
}

function endpointKey(endpoint: Endpoint): string {
  return `${endpoint.addresses[0] ?? ""}/${endpoint.servicePortName}`;
}

/** One endpoint per address and port name, whatever the number of slices that hold it. */
function distinct(slices: readonly ConvertedSlice[]): readonly Endpoint[] {
  const [only] = slices;
  if (slices.length === 1 && only !== undefined) return only.endpoints;
  const seen = new Map<string, Endpoint>();
  for (const { endpoints } of slices) {
    for (const endpoint of endpoints) {
      const key = endpointKey(endpoint);
      if (!seen.has(key)) seen.set(key, endpoint);
    }
  }
  return [...seen.values()];
}

function convertSlices(
  index: ClusterIndex,
  serviceKey: string,
  changedPods: ReadonlySet<string>,
): SlicedService | undefined {
  const service = index.services.get(serviceKey);
  const slices = index.slices.get(serviceKey);
  if (service === undefined || slices === undefined) return undefined;
  const before = index.sliced.get(serviceKey);
  const pods = podLookup(index);
  const unknownPods: string[] = [];
  const converted = slices.map((object): ConvertedSlice => {
    const same = before?.service === service ? before.slices.find((slice) => slice.object === object) : undefined;
    if (same !== undefined && before?.unknownPods.length === 0) {
      if (!slicePodReferences(object).some((reference) => changedPods.has(reference))) return same;
    }
    const made = sliceEndpoints(object, service.service, pods, index.settings);
    unknownPods.push(...made.unknownPods);
    const known = before?.slices.find((slice) => objectKey(slice.object) === objectKey(object));
    return { object, endpoints: keepSameItems(known?.endpoints, made.endpoints, endpointKey) };
  });
  const endpoints = keepSameItems(before?.endpoints, distinct(converted), endpointKey);
  return { service, slices: converted, endpoints, unknownPods: [...new Set(unknownPods)].sort() };
}

/** Reads nodes and namespaces anew where they changed; undefined if nothing that anybody reads is other than before. */
function surroundings(
  index: ClusterIndex,
  changes: KindChanges,
): { readonly nodes: ReadonlyMap<string, Node>; readonly namespaces: ReadonlyMap<string, Namespace> } | undefined {
  const nodes = new Map(index.nodes);
  const namespaces = new Map(index.namespaces);
  let changed = false;
  for (const [key, after] of writes(changes, "Node", nodeOf)) {
    const name = key.slice(key.indexOf("/") + 1);
    const before = nodes.get(name);
    if (before !== undefined && after !== undefined && sameNode(before, after)) continue;
    changed ||= before !== after;
    if (after === undefined) nodes.delete(name);
    else nodes.set(name, after);
  }
  for (const [key, after] of writes(changes, "Namespace", namespaceOf)) {
    const name = key.slice(key.indexOf("/") + 1);
    const before = namespaces.get(name);
    if (before !== undefined && after !== undefined && sameValue(before, after)) continue;
    changed ||= before !== after;
    if (after === undefined) namespaces.delete(name);
    else namespaces.set(name, after);
  }
  return changed ? { nodes, namespaces } : undefined;
}

/** Applies changes to an index whose nodes and namespaces stay as they are. */
function applyChanges(index: ClusterIndex, changes: KindChanges): ClusterUpdate {
  const pods = updatePods(index, changes);
  const services = updateServices(index, changes);
  const slices = updateSlices(index, changes);
  const next: ClusterIndex = {
    ...index,
    pods: pods.pods,
    podsByNamespace: pods.podsByNamespace,
    podsByAddress: pods.podsByAddress,
    services: services.services,
    servicesByNamespace: services.servicesByNamespace,
    slices: slices.slices,
    referrers: slices.referrers,
  };
  if (next.pods === index.pods && services.changed.size === 0 && slices.changed.size === 0) {
    return { index, difference: noDifference };
  }
  const touched = new Set([...services.changed, ...slices.changed]);
  const changedPods = new Set<string>();
  // In a first index every service is touched anyway.
  if (index.services.size > 0) {
    for (const pod of pods.changed) {
      changedPods.add(objectKey(pod.object));
      for (const address of pod.workload.addresses) changedPods.add(address);
    }
  }
  for (const reference of changedPods) for (const key of next.referrers.get(reference) ?? []) touched.add(key);
  const sliced: [string, SlicedService | undefined][] = [];
  const endpoints = new Set<string>();
  for (const key of touched) {
    const before = index.sliced.get(key);
    const after = convertSlices(next, key, changedPods);
    sliced.push([key, after]);
    if (before?.endpoints !== after?.endpoints) endpoints.add(key);
  }
  return {
    index: { ...next, sliced: next.sliced.with(sliced), incomplete: withIncomplete(index.incomplete, sliced) },
    difference: { services: services.changed, endpoints, pods: pods.changed },
  };
}

function withIncomplete(
  incomplete: ReadonlySet<string>,
  sliced: readonly (readonly [string, SlicedService | undefined])[],
): ReadonlySet<string> {
  const now = (service: SlicedService | undefined): boolean => (service?.unknownPods.length ?? 0) > 0;
  if (sliced.every(([key, service]) => incomplete.has(key) === now(service))) return incomplete;
  const copy = new Set(incomplete);
  for (const [key, service] of sliced) {
    if (now(service)) copy.add(key);
    else copy.delete(key);
  }
  return copy;
}

/**
 * Makes the index of a cluster. With the index that it had before, services and endpoint lists that come out equal
 * keep their identity.
 */
export function indexCluster(
  context: ClusterContext,
  objects: readonly KubernetesObject[],
  before: ClusterIndex | undefined,
): ClusterUpdate {
  const nodes = new Map<string, Node>();
  const namespaces = new Map<string, Namespace>();
  for (const object of objects) {
    if (object.kind === "Node") nodes.set(object.metadata.name, nodeOf(object));
    else if (object.kind === "Namespace") namespaces.set(object.metadata.name, namespaceOf(object));
  }
  const update = applyChanges(emptyIndex(context, nodes, namespaces), byKind({ removed: [], added: objects }));
  if (before === undefined) return update;
  const { index } = update;
  const kept = keepIdentity(before, index);
  const difference = everything(kept);
  const gone = everything(before);
  return {
    index: kept,
    difference: {
      services: new Set([...difference.services, ...gone.services]),
      endpoints: new Set([...difference.endpoints, ...gone.endpoints]),
      pods: [...difference.pods, ...gone.pods],
    },
  };
}

function everything(index: ClusterIndex): ClusterDifference {
  return {
    services: new Set(index.services.keys()),
    endpoints: new Set(index.sliced.keys()),
    pods: [...index.pods.values()],
  };
}

/** The new index with the services and endpoint lists of the old one where they are equal. */
function keepIdentity(before: ClusterIndex, after: ClusterIndex): ClusterIndex {
  const services = new Map<string, KubernetesService>();
  for (const service of after.services.values()) {
    const key = objectKey(service.object);
    const known = before.services.get(key);
    services.set(key, known !== undefined && sameService(known, service) ? known : service);
  }
  const servicesByNamespace = new Map(
    [...after.servicesByNamespace].map(([namespace, list]) => [
      namespace,
      list.map((service) => services.get(objectKey(service.object)) ?? service),
    ]),
  );
  const sliced: [string, SlicedService][] = [];
  for (const entry of after.sliced.values()) {
    const key = objectKey(entry.service.object);
    const known = before.sliced.get(key);
    const slices = entry.slices.map(({ object, endpoints }) => {
      const old = known?.slices.find((slice) => objectKey(slice.object) === objectKey(object));
      return { object, endpoints: keepSameItems(old?.endpoints, endpoints, endpointKey) };
    });
    const service = services.get(key) ?? entry.service;
    sliced.push([
      key,
      { ...entry, service, slices, endpoints: keepSameItems(known?.endpoints, distinct(slices), endpointKey) },
    ]);
  }
  return {
    ...after,
    services: after.services.with(services),
    servicesByNamespace,
    sliced: after.sliced.with(sliced),
  };
}

/**
 * The index after some objects changed. Costs what the changes touch, except when a node or namespace changes in a
 * way that matters: then everything is made anew from `objects`, all objects of the cluster as they are now.
 */
export function updateCluster(
  index: ClusterIndex,
  changes: ObjectChanges,
  objects: readonly KubernetesObject[],
): ClusterUpdate {
  const kinds = byKind(changes);
  if (surroundings(index, kinds) !== undefined) return indexCluster(index.context, objects, index);
  return applyChanges(index, kinds);
}
