import { byCodePoint } from "../config/diagnostic.ts";
import type { Assembly } from "./assembly.ts";
import type { Pod } from "./kubernetes/pod.ts";
import { podOfProxy } from "./kubernetes/service-targets.ts";
import type { ProxyQuery } from "./proxy-query.ts";
import type { RegistryState, SelectedTargets } from "./registry-state.ts";
import type { Workload } from "./service.ts";
import type { SelectableWorkload } from "./service-entry/workload.ts";
import { clustersFor, entryOfProxy, findTargets } from "./targets.ts";

/** Sorted live pods of a namespace, by the map that the namespace's pods are in: sorted once for each change. */
export type PodLists = WeakMap<ReadonlyMap<string, Pod>, readonly Workload[]>;

function findWorkload(assembly: Assembly, proxy: ProxyQuery): Workload | undefined {
  for (const { index } of clustersFor(assembly.clusters, proxy)) {
    const pod = podOfProxy(index, proxy);
    if (pod !== undefined) return pod.workload;
  }
  const entry = entryOfProxy(assembly.entries, proxy);
  return entry?.namespace === proxy.namespace ? entry.workload : undefined;
}

function podsInOrder(pods: ReadonlyMap<string, Pod>, lists: PodLists): readonly Workload[] {
  let list = lists.get(pods);
  if (list === undefined) {
    list = [...pods.values()]
      .filter((pod) => pod.live)
      .map((pod) => pod.workload)
      .sort((a, b) => byCodePoint(a.name, b.name));
    lists.set(pods, list);
  }
  return list;
}

function allWorkloads(assembly: Assembly, lists: PodLists): readonly Workload[] {
  const clusters = [...assembly.clusters].sort((a, b) =>
    byCodePoint(a.index.settings.clusterId, b.index.settings.clusterId),
  );
  const out: Workload[] = [];
  for (const { index } of clusters) {
    const own = index.settings.clusterId === assembly.entries.settings.clusterId;
    const entries = own ? assembly.entries.workloadsByNamespace : new Map<string, readonly SelectableWorkload[]>();
    const namespaces = new Set([...index.podsByNamespace.keys(), ...index.standIns.keys(), ...entries.keys()]);
    for (const namespace of [...namespaces].sort()) {
      const pods = podsInOrder(index.podsByNamespace.get(namespace) ?? new Map(), lists);
      for (const pod of pods) out.push(pod);
      for (const { pod } of index.standIns.get(namespace)?.values() ?? []) out.push(pod.workload);
      for (const { workload } of entries.get(namespace) ?? []) out.push(workload);
    }
  }
  return out;
}

/** The public face of an assembly. What few need is listed on first use. */
export function createState(assembly: Assembly, selectedTargets: SelectedTargets, podLists: PodLists): RegistryState {
  let workloads: readonly Workload[] | undefined;
  let namespaces: RegistryState["namespaces"] | undefined;
  return {
    services: assembly.services,
    endpoints: assembly.endpoints,
    networkGateways: assembly.networkGateways,
    get namespaces() {
      namespaces ??= new Map(
        [...(assembly.clusters[0]?.index.namespaces ?? [])].map(([name, { labels }]) => [name, labels]),
      );
      return namespaces;
    },
    get workloads() {
      workloads ??= allWorkloads(assembly, podLists);
      return workloads;
    },
    workload: (proxy) => findWorkload(assembly, proxy),
    selectedTargets,
    serviceTargets: (proxy) => selectedTargets.of(proxy) ?? findTargets(assembly, proxy),
  };
}
