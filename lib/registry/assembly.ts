import type { Config } from "../config/config.ts";
import { byCodePoint, type Diagnostic } from "../config/diagnostic.ts";
import { listChanges } from "./changes.ts";
import {
  type ClusterContext,
  type ClusterDifference,
  type ClusterIndex,
  indexCluster,
  noDifference,
  updateCluster,
} from "./kubernetes/cluster-index.ts";
import { networkGatewaysOf } from "./kubernetes/network-gateways.ts";
import type { KubernetesObject } from "./kubernetes/object.ts";
import { selectablePod } from "./kubernetes/pod-workload.ts";
import { takesWorkload, workloadEndpoints } from "./kubernetes/selected-workloads.ts";
import { networkOf } from "./kubernetes/settings.ts";
import { mergeServices } from "./merge-services.ts";
import { clusterNetworks } from "./networks.ts";
import type { RegistryContent } from "./registry-content.ts";
import type { RegistryInput } from "./registry-input.ts";
import { type NetworkGateway, serviceKey } from "./registry-state.ts";
import { keepSame, sameValue } from "./same.ts";
import type { Endpoint, Service } from "./service.ts";
import {
  type EntryDifference,
  type EntryIndex,
  type EntryRecord,
  type EntryUpdate,
  emptyEntries,
  endpointsOfHost,
  entryDiagnostics,
  selectingEntries,
  updateEntryIndex,
} from "./service-entry/entry-index.ts";
import type { SelectableWorkload } from "./service-entry/workload.ts";
import { listServices, type ServiceList } from "./service-list.ts";

/** One cluster in an assembly, with the input it was made from. */
export interface AssembledCluster {
  readonly objects: readonly KubernetesObject[];
  readonly index: ClusterIndex;
}

/**
 * All registries joined, with everything that it takes to derive the next assembly from it at the cost of what
 * changed. Immutable; clusters in the order of the input, the primary first.
 */
export interface Assembly extends ServiceList {
  readonly input: RegistryInput;
  readonly clusters: readonly AssembledCluster[];
  readonly configs: readonly Config[];
  readonly entries: EntryIndex;
  readonly others: readonly RegistryContent[];
  /** Kubernetes services by service key, clusters merged, without aliases. */
  readonly merged: ReadonlyMap<string, Service>;
  readonly endpoints: ReadonlyMap<string, readonly Endpoint[]>;
  /** Sorted by network, cluster, address and port. */
  readonly networkGateways: readonly NetworkGateway[];
  readonly diagnostics: readonly Diagnostic[];
}

function contextsOf(input: RegistryInput): readonly ClusterContext[] {
  return input.clusters.map((cluster) => ({
    clusterId: cluster.id,
    domain: input.domain,
    trustDomain: input.meshConfig.trustDomain,
    network: cluster.network ?? "",
    networks: clusterNetworks(input.meshNetworks, cluster.id),
    systemNamespace: input.systemNamespace ?? "istio-system",
    discoverySelectors: input.meshConfig.discoverySelectors,
  }));
}

/** Says whether anything but objects and configs differs, so that nothing made before can be used as it is. */
function sameTerms(a: RegistryInput, b: RegistryInput): boolean {
  return (
    a.domain === b.domain &&
    a.systemNamespace === b.systemNamespace &&
    a.addressAllocation === b.addressAllocation &&
    (a.meshNetworks === b.meshNetworks || sameValue(a.meshNetworks, b.meshNetworks)) &&
    a.meshConfig.trustDomain === b.meshConfig.trustDomain &&
    sameValue(a.meshConfig.discoverySelectors, b.meshConfig.discoverySelectors) &&
    a.clusters.length === b.clusters.length &&
    a.clusters.every(({ id, network }, at) => id === b.clusters[at]?.id && network === b.clusters[at]?.network)
  );
}

interface Changed {
  readonly others: readonly RegistryContent[];
  /** Contents of other registries that went and came. */
  readonly changedOthers: readonly RegistryContent[];
  readonly clusters: readonly AssembledCluster[];
  readonly entries: EntryIndex;
  readonly clusterDifferences: readonly ClusterDifference[];
  readonly entryDifference: EntryDifference;
}

/** Everything made from the input alone; identities are kept where a former assembly has the same cluster. */
function fromNothing(input: RegistryInput, former: Assembly | undefined): Changed {
  const updates = contextsOf(input).map((context, at) => {
    const objects = input.clusters[at]?.objects ?? [];
    const known = former?.clusters.find(({ index }) => index.context.clusterId === context.clusterId);
    return { objects, update: indexCluster(context, objects, known?.index) };
  });
  const entries = entriesFrom(input, updates[0]?.update.index, former);
  const others = input.others ?? [];
  return {
    others,
    changedOthers: [...others, ...(former?.others ?? [])],
    clusters: updates.map(({ objects, update }) => ({ objects, index: update.index })),
    entries: entries.index,
    clusterDifferences: updates.map(({ update }) => update.difference),
    entryDifference: entries.difference,
  };
}

/** All ServiceEntries and WorkloadEntries read anew, as the primary cluster's networks are now. */
function entriesFrom(
  input: RegistryInput,
  primary: ClusterIndex | undefined,
  former: Assembly | undefined,
): EntryUpdate {
  const settings = primary?.settings;
  const { index, difference } = updateEntryIndex(
    emptyEntries({
      clusterId: settings?.clusterId ?? "Kubernetes",
      trustDomain: input.meshConfig.trustDomain,
      networkOf: (address, labels) => (settings === undefined ? "" : networkOf(address, labels, settings)),
    }),
    { removed: [], added: input.configs },
    former?.entries,
  );
  if (former === undefined) return { index, difference };
  return {
    index,
    difference: {
      entries: [...difference.entries, ...former.entries.entries.values()],
      workloads: [...difference.workloads, ...former.entries.workloads.values()],
    },
  };
}

function fromFormer(input: RegistryInput, former: Assembly): Changed {
  const updates = former.clusters.map((cluster, at) => {
    const objects = input.clusters[at]?.objects ?? [];
    const changes = listChanges(cluster.objects, objects);
    if (changes.removed.length === 0 && changes.added.length === 0) {
      return { objects, index: cluster.index, difference: noDifference };
    }
    return { objects, ...updateCluster(cluster.index, changes, objects) };
  });
  const primary = updates[0]?.index;
  const entries =
    primary?.settings === former.clusters[0]?.index.settings
      ? updateEntryIndex(former.entries, listChanges(former.configs, input.configs))
      : entriesFrom(input, primary, former);
  const others = input.others ?? [];
  const { removed, added } = listChanges(former.others, others);
  return {
    others,
    changedOthers: [...removed, ...added],
    clusters: updates.map(({ objects, index }) => ({ objects, index })),
    entries: entries.index,
    clusterDifferences: updates.map(({ difference }) => difference),
    entryDifference: entries.difference,
  };
}

/** Key of the model's service for a Kubernetes `namespace/name`. */
function modelKey(objectKey: string, domain: string): string {
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

function joinEndpoints(former: Assembly | undefined, changed: Changed, domain: string): Assembly["endpoints"] {
  const written = new Map<string, readonly Endpoint[]>();
  for (const key of touchedEndpoints(changed, domain)) {
    const before = former?.endpoints.get(key);
    const after = endpointsOf(key, changed, domain);
    if (!sameItems(before ?? [], after)) written.set(key, after);
  }
  if (former === undefined) return written;
  if (written.size === 0) return former.endpoints;
  const endpoints = new Map(former.endpoints);
  for (const [key, list] of written) {
    if (list.length === 0) endpoints.delete(key);
    else endpoints.set(key, list);
  }
  return endpoints;
}

function joinServices(former: Assembly | undefined, changed: Changed, domain: string): Assembly["merged"] {
  const keys = new Set(changed.clusterDifferences.flatMap(({ services }) => [...services]));
  const written = new Map<string, Service | undefined>();
  for (const objectKey of keys) {
    const key = modelKey(objectKey, domain);
    const [first, ...others] = changed.clusters
      .map(({ index }) => index.services.get(objectKey)?.service)
      .filter((service) => service !== undefined);
    const before = former?.merged.get(key);
    const after = first === undefined ? undefined : keepSame(before, mergeServices([first, ...others]));
    if (before !== after) written.set(key, after);
  }
  if (former !== undefined && written.size === 0) return former.merged;
  const merged = new Map(former?.merged);
  for (const [key, service] of written) {
    if (service === undefined) merged.delete(key);
    else merged.set(key, service);
  }
  return merged;
}

function allServices(merged: Assembly["merged"], changed: Changed): readonly Service[] {
  const all = [...merged.values()];
  for (const record of changed.entries.entries.values()) all.push(...record.services);
  for (const { services } of changed.others) all.push(...services);
  return all;
}

function byNetwork(a: NetworkGateway, b: NetworkGateway): number {
  return (
    byCodePoint(a.network, b.network) ||
    byCodePoint(a.clusterId, b.clusterId) ||
    byCodePoint(a.address, b.address) ||
    a.port - b.port
  );
}

function joinGateways(former: Assembly | undefined, changed: Changed): readonly NetworkGateway[] {
  if (former !== undefined && changed.clusterDifferences.every(({ services }) => services.size === 0)) {
    return former.networkGateways;
  }
  const gateways = changed.clusters.flatMap(({ index }) =>
    [...index.services.values()].flatMap(({ service }) => networkGatewaysOf(service, index.settings)),
  );
  return keepSame(former?.networkGateways, gateways.sort(byNetwork));
}

function diagnosticsOf(changed: Changed): readonly Diagnostic[] {
  const out: Diagnostic[] = [...entryDiagnostics(changed.entries)];
  for (const { index } of changed.clusters) {
    for (const key of [...index.incomplete].sort()) {
      const sliced = index.sliced.get(key);
      if (sliced === undefined) continue;
      out.push({
        code: "endpoint-pod-unknown",
        severity: "info",
        origin: sliced.service.object.origin,
        path: [],
        message: `endpoints of ${key} in cluster ${index.settings.clusterId} are left out: no pod ${sliced.unknownPods.join(", ")}`,
        hint: "the endpoints count as soon as the pods are there",
      });
    }
  }
  return out;
}

/**
 * Joins all registries of the input. With the assembly before it, costs what differs between the two inputs, and
 * every service and endpoint list that comes out equal is the very same object as before.
 */
export function assemble(input: RegistryInput, former: Assembly | undefined): Assembly {
  const changed =
    former !== undefined && sameTerms(former.input, input) ? fromFormer(input, former) : fromNothing(input, former);
  const merged = joinServices(former, changed, input.domain);
  const sameServices =
    former !== undefined &&
    merged === former.merged &&
    changed.entryDifference.entries.length === 0 &&
    changed.changedOthers.length === 0;
  const list = sameServices
    ? former
    : listServices(allServices(merged, changed), input.addressAllocation ?? "status", former);
  const same = former !== undefined && sameItemsByIdentity(list.services, former.services);
  return {
    input,
    clusters: changed.clusters,
    configs: input.configs,
    entries: changed.entries,
    others: changed.others,
    merged,
    services: same ? former.services : list.services,
    completed: list.completed,
    endpoints: joinEndpoints(former, changed, input.domain),
    networkGateways: joinGateways(former, changed),
    diagnostics: diagnosticsOf(changed),
  };
}

function sameItemsByIdentity<T>(a: readonly T[], b: readonly T[]): boolean {
  return a === b || (a.length === b.length && a.every((item, at) => item === b[at]));
}
