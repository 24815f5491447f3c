import { byCodePoint } from "../base/diagnostic.ts";
import type { AssembledCluster, Assembly } from "./assembly.ts";
import type { Changed } from "./changes/registry-changes.ts";
import { serviceKey } from "./changes/registry-state.ts";
import { sameValue } from "./changes/same.ts";
import { selectablePod } from "./kubernetes/pods/pod-workload.ts";
import { takesWorkload, workloadEndpoints } from "./kubernetes/selected-workloads.ts";
import type { Endpoint } from "./service.ts";
import { type EntryRecord, endpointsOfHost, selectingEntries } from "./service-entry/entry-index.ts";
import type { SelectableWorkload } from "./service-entry/workload.ts";

/** Key of the model's service for a Kubernetes `namespace/name`. */
export function modelKey(objectKey: string, domain: string): string {
  const slash = objectKey.indexOf("/");
  const namespace = objectKey.slice(0, slash);
  return `${namespace}/${objectKey.slice(slash + 1)}.${namespace}.svc.${domain}`;
}

/** Kubernetes `namespace/name` for the key of a model service; only meaningful for hosts of the domain. */
function objectKeyOf(key: string, domain: string): string {
  const slash = key.indexOf("/");
  const namespace = key.slice(0, slash);
  const suffix = `.${namespace}.svc.${domain}`;
  return key.endsWith(suffix) ? `${namespace}/${key.slice(slash + 1, -suffix.length)}` : "";
}

function recordKeys(record: EntryRecord): readonly string[] {
  return record.config.spec.hosts.map((host) => `${record.config.meta.namespace}/${host}`);
}

/** Keys of the services whose endpoints may be other than before. */
function touchedEndpoints(changed: Changed, domain: string): ReadonlySet<string> {
  const keys = new Set<string>();
  const { clusters, entries, clusterDifferences, entryDifference } = changed;
  const addSelecting = (workload: SelectableWorkload): void => {
    for (const record of selectingEntries(entries, workload)) for (const key of recordKeys(record)) keys.add(key);
  };
  for (const [at, { services, endpoints, pods }] of clusterDifferences.entries()) {
    for (const key of services) keys.add(modelKey(key, domain));
    for (const key of endpoints) keys.add(modelKey(key, domain));
    const settings = clusters[at]?.index.settings;
    for (const pod of pods) {
      if (settings === undefined || !entries.byNamespace.has(pod.workload.namespace)) continue;
      const workload = selectablePod(pod, settings);
      if (workload !== undefined) addSelecting(workload);
    }
  }
  for (const record of entryDifference.entries) for (const key of recordKeys(record)) keys.add(key);
  for (const { services } of changed.changedOthers) for (const service of services) keys.add(serviceKey(service));
  const primary = clusters[0]?.index;
  for (const workload of entryDifference.workloads) {
    addSelecting(workload);
    for (const service of primary?.servicesByNamespace.get(workload.namespace) ?? []) {
      if (takesWorkload(service, workload)) keys.add(serviceKey(service.service));
    }
  }
  return keys;
}

/** Pods of a namespace that ServiceEntries may select: of all clusters, in their order. */
function selectablePods(clusters: readonly AssembledCluster[], namespace: string): readonly SelectableWorkload[] {
  return clusters.flatMap(({ index }) =>
    [...(index.podsByNamespace.get(namespace)?.values() ?? [])]
      .map((pod) => selectablePod(pod, index.settings))
      .filter((workload) => workload !== undefined),
  );
}

interface Shard {
  readonly provider: string;
  readonly clusterId: string;
  readonly endpoints: readonly Endpoint[];
}

function byShard(a: Shard, b: Shard): number {
  return byCodePoint(a.provider, b.provider) || byCodePoint(a.clusterId, b.clusterId);
}

function clusterShards(key: string, changed: Changed, domain: string): readonly Shard[] {
  const { clusters, entries } = changed;
  const objectKey = objectKeyOf(key, domain);
  const workloads = entries.workloadsByNamespace.get(key.slice(0, key.indexOf("/"))) ?? [];
  return clusters.flatMap(({ index }, at): readonly Shard[] => {
    const service = index.services.get(objectKey);
    if (service === undefined) return [];
    const sliced = index.sliced.get(objectKey)?.endpoints ?? [];
    // WorkloadEntries are configuration, and configuration is the primary cluster's.
    const selected = at === 0 && workloads.length > 0 ? workloadEndpoints(service, workloads) : [];
    const endpoints = selected.length === 0 ? sliced : [...sliced, ...selected];
    return [{ provider: "Kubernetes", clusterId: index.settings.clusterId, endpoints }];
  });
}

/** Endpoints of a service from all registries, by provider and cluster id, which is the order of Istio's shards. */
function endpointsOf(key: string, changed: Changed, domain: string): readonly Endpoint[] {
  const { clusters, entries, others } = changed;
  const shards = [...clusterShards(key, changed, domain)];
  const records = entries.declaring.get(key) ?? [];
  if (records.length > 0) {
    const selecting = records.some((record) => record.config.spec.workloadSelector !== undefined);
    const pods = selecting ? selectablePods(clusters, key.slice(0, key.indexOf("/"))) : [];
    shards.push({ provider: "External", clusterId: "", endpoints: endpointsOfHost(entries, key, pods) });
  }
  for (const { provider, endpoints } of others) {
    const list = endpoints.get(key);
    if (list !== undefined) shards.push({ provider, clusterId: "", endpoints: list });
  }
  const [only] = shards;
  if (shards.length === 1 && only !== undefined) return only.endpoints;
  return shards.sort(byShard).flatMap(({ endpoints }) => endpoints);
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at] || sameValue(item, b[at]));
}

/** The endpoint lists of all services; those that come out as before are the same objects. */
export function joinEndpoints(former: Assembly | undefined, changed: Changed, domain: string): Assembly["endpoints"] {
  const written = new Map<string, readonly Endpoint[]>();
  for (const key of touchedEndpoints(changed, domain)) {
    const before = former?.endpoints.get(key) ?? [];
    const after = endpointsOf(key, changed, domain);
    const same = sameItems(before, after);
    if (changed.complete ? after.length > 0 : !same) written.set(key, same ? before : after);
  }
  if (former === undefined) return written;
  if (changed.complete) {
    const same =
      written.size === former.endpoints.size && [...written].every(([key, list]) => former.endpoints.get(key) === list);
    return same ? former.endpoints : written;
  }
  if (written.size === 0) return former.endpoints;
  const endpoints = new Map(former.endpoints);
  for (const [key, list] of written) {
    if (list.length === 0) endpoints.delete(key);
    else endpoints.set(key, list);
  }
  return endpoints;
}
