import { sameValue } from "../changes/same.ts";
import type { ShardedMap } from "../changes/sharded-map.ts";
import { type ClusterIndex, discovered } from "./cluster-index.ts";
import { objectKey, objectNamespace } from "./object.ts";
import { byObjectName, type KindChanges, writes } from "./object-changes.ts";
import { type KubernetesService, serviceOf } from "./service.ts";

/** The indexes of services after a change. */
export interface ServicesUpdate {
  readonly services: ShardedMap<KubernetesService>;
  readonly servicesByNamespace: ReadonlyMap<string, readonly KubernetesService[]>;
  readonly changed: ReadonlySet<string>;
}

/** Converts the services that came; one that means what it meant before stays the same object. */
export function updateServices(index: ClusterIndex, changes: KindChanges): ServicesUpdate {
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
export function sameService(a: KubernetesService, b: KubernetesService): boolean {
  return (
    sameValue(a.ports, b.ports) &&
    sameValue({ ...a.service, resourceVersion: "" }, { ...b.service, resourceVersion: "" })
  );
}
