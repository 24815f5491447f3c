import { sameValue } from "../changes/same.ts";
import { type ClusterContext, type ClusterIndex, emptyIndex, type SlicedService } from "./cluster-index.ts";
import { type Namespace, namespaceOf } from "./namespace.ts";
import { type Node, nodeOf, sameNode } from "./node.ts";
import { type KubernetesObject, objectKey } from "./object.ts";
import { byKind, type KindChanges, nameTwice, type ObjectChanges, takesName, writes } from "./object-changes.ts";
import type { Pod } from "./pods/pod.ts";
import { hasNames, servicesOfPods } from "./pods/pod-endpoints.ts";
import { updatePods } from "./pods/pod-index.ts";
import { type KubernetesService, resolutionOf } from "./service.ts";
import { sameService, updateServices } from "./service-index.ts";
import { convertSlices, keepEndpoints, updateSlices, withIncomplete } from "./slice-index.ts";
import { updateTemplatePods } from "./template-pod-index.ts";

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

/** An index and what differs in it from the one before. */
export interface ClusterUpdate {
  readonly index: ClusterIndex;
  readonly difference: ClusterDifference;
}

/** Is any node or namespace other than before in a way that somebody reads? A node's heartbeat is not. */
function surroundingsChanged(index: ClusterIndex, changes: KindChanges): boolean {
  const name = (key: string): string => key.slice(key.indexOf("/") + 1);
  for (const [key, after] of writes(changes, "Node", nodeOf)) {
    const before = index.nodes.get(name(key));
    if (before === undefined || after === undefined ? before !== after : !sameNode(before, after)) return true;
  }
  for (const [key, after] of writes(changes, "Namespace", namespaceOf)) {
    if (!sameValue(index.namespaces.get(name(key)), after)) return true;
  }
  return false;
}

/** Applies changes to an index whose nodes and namespaces stay as they are. */
function applyChanges(index: ClusterIndex, changes: KindChanges): ClusterUpdate {
  const pods = updatePods(index, changes);
  const templatePods = updateTemplatePods(index, changes, pods);
  const services = updateServices(index, changes);
  const slices = updateSlices(index, changes);
  const next: ClusterIndex = {
    ...index,
    pods: pods.pods,
    podsByNamespace: pods.podsByNamespace,
    podsByAddress: pods.podsByAddress,
    templates: templatePods.templates,
    templatePods: templatePods.templatePods,
    services: services.services,
    servicesByNamespace: services.servicesByNamespace,
    slices: slices.slices,
    referrers: slices.referrers,
  };
  const samePods = next.pods === index.pods && next.templatePods === index.templatePods;
  if (samePods && services.changed.size === 0 && slices.changed.size === 0) {
    return { index: next.templates === index.templates ? index : next, difference: noDifference };
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
  if (index.services.size > 0) {
    for (const key of servicesOfPods(next, [...pods.changed, ...templatePods.changed])) touched.add(key);
  }
  const sliced: [string, SlicedService | undefined][] = [];
  const endpoints = new Set<string>();
  const resolved = new Map<string, KubernetesService>();
  for (const key of touched) {
    const before = index.sliced.get(key);
    const found = convertSlices(next, key, changedPods);
    const service = withResolution(next.services.get(key), found);
    if (service !== undefined && service !== next.services.get(key)) resolved.set(key, service);
    const after = found === undefined || service === undefined ? found : { ...found, service };
    sliced.push([key, after]);
    if (before?.endpoints !== after?.endpoints) endpoints.add(key);
  }
  return {
    index: {
      ...withServices(next, resolved),
      sliced: next.sliced.with(sliced),
      incomplete: withIncomplete(index.incomplete, sliced),
    },
    difference: { services: new Set([...services.changed, ...resolved.keys()]), endpoints, pods: pods.changed },
  };
}

/** A service whose stated endpoints are names has them resolved; it is as written when they are gone. */
function withResolution(
  service: KubernetesService | undefined,
  found: SlicedService | undefined,
): KubernetesService | undefined {
  if (service === undefined) return undefined;
  const written = resolutionOf(service.object);
  const resolution = written !== "Alias" && hasNames(found?.endpoints ?? []) ? "DNSLB" : written;
  return service.service.resolution === resolution
    ? service
    : { ...service, service: { ...service.service, resolution } };
}

function withServices(index: ClusterIndex, changed: ReadonlyMap<string, KubernetesService>): ClusterIndex {
  if (changed.size === 0) return index;
  const touched = new Set([...changed.keys()].map((key) => key.slice(0, key.indexOf("/"))));
  const lists = [...touched].map((namespace) => {
    const list = index.servicesByNamespace.get(namespace) ?? [];
    return [namespace, list.map((service) => changed.get(objectKey(service.object)) ?? service)] as const;
  });
  return {
    ...index,
    services: index.services.with(changed),
    servicesByNamespace: new Map([...index.servicesByNamespace, ...lists]),
  };
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
  const index = { ...update.index, namesTwice: nameTwice(objects) };
  if (before === undefined) return { ...update, index };
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
    const service = services.get(key) ?? entry.service;
    sliced.push([key, keepEndpoints(before.sliced.get(key), { ...entry, service })]);
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
 * way that matters, or an object is there under the name of another: then everything is made anew from `objects`, all objects of the
 * cluster as they are now.
 */
export function updateCluster(
  index: ClusterIndex,
  changes: ObjectChanges,
  objects: readonly KubernetesObject[],
): ClusterUpdate {
  const kinds = byKind(changes);
  const isAnew = index.namesTwice || takesName(changes, objects) || surroundingsChanged(index, kinds);
  if (isAnew) return indexCluster(index.context, objects, index);
  return applyChanges(index, kinds);
}
