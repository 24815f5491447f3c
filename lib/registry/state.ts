import { byCodePoint } from "../base/diagnostic.ts";
import { sameElements } from "../incremental/same-elements.ts";
import type { Assembly } from "./assembly.ts";
import type { RegistryState, SelectedTargets } from "./changes/registry-state.ts";
import type { Pod } from "./kubernetes/pods/pod.ts";
import { podOfProxy } from "./kubernetes/service-targets.ts";
import type { ProxyQuery } from "./proxy-query.ts";
import type { Workload } from "./service.ts";
import type { SelectableWorkload } from "./service-entry/workload.ts";
import { clustersFor, entryOfProxy, findTargets } from "./targets.ts";

/** Lists of workloads that most changes leave as they are. */
export interface WorkloadLists {
  /** Sorted live pods of a namespace, by the map that the namespace's pods are in: sorted once for each change. */
  readonly pods: WeakMap<ReadonlyMap<string, Pod>, readonly Workload[]>;
  /** The list of all, and the lists that it was put together of. */
  last: { readonly parts: readonly (readonly Workload[])[]; readonly all: readonly Workload[] };
}

export const newWorkloadLists = (): WorkloadLists => ({ pods: new WeakMap(), last: { parts: [], all: [] } });

function findWorkload(assembly: Assembly, proxy: ProxyQuery): Workload | undefined {
  for (const { index } of clustersFor(assembly.clusters, proxy)) {
    const pod = podOfProxy(index, proxy);
    if (pod !== undefined) return pod.workload;
  }
  const entry = entryOfProxy(assembly.entries, proxy);
  return entry?.namespace === proxy.namespace ? entry.workload : undefined;
}

const noPods: ReadonlyMap<string, Pod> = new Map();

function podsInOrder(pods: ReadonlyMap<string, Pod>, lists: WorkloadLists): readonly Workload[] {
  let list = lists.pods.get(pods);
  if (list === undefined) {
    list = [...pods.values()]
      .filter((pod) => pod.live)
      .map((pod) => pod.workload)
      .sort((a, b) => byCodePoint(a.name, b.name));
    lists.pods.set(pods, list);
  }
  return list;
}

function allWorkloads(assembly: Assembly, lists: WorkloadLists): readonly Workload[] {
  const clusters = [...assembly.clusters].sort((a, b) =>
    byCodePoint(a.index.settings.clusterId, b.index.settings.clusterId),
  );
  const parts: (readonly Workload[])[] = [];
  for (const { index } of clusters) {
    const own = index.settings.clusterId === assembly.entries.settings.clusterId;
    const entries = own ? assembly.entries.workloadsByNamespace : new Map<string, readonly SelectableWorkload[]>();
    const namespaces = new Set([...index.podsByNamespace.keys(), ...index.templatePods.keys(), ...entries.keys()]);
    for (const namespace of [...namespaces].sort()) {
      parts.push(podsInOrder(index.podsByNamespace.get(namespace) ?? noPods, lists));
      const templatePods = index.templatePods.get(namespace);
      if (templatePods !== undefined) parts.push(Array.from(templatePods.values(), ({ pod }) => pod.workload));
      const ofEntries = entries.get(namespace);
      if (ofEntries !== undefined) parts.push(ofEntries.map(({ workload }) => workload));
    }
  }
  const { last } = lists;
  if (sameElements(last.parts, parts, (one, other) => sameElements(one, other))) return last.all;
  const all = parts.flat();
  lists.last = { parts, all: sameElements(last.all, all) ? last.all : all };
  return lists.last.all;
}

/** The public face of an assembly. What few need is listed on first use. */
export function createState(
  assembly: Assembly,
  selectedTargets: SelectedTargets,
  workloadLists: WorkloadLists,
): RegistryState {
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
      workloads ??= allWorkloads(assembly, workloadLists);
      return workloads;
    },
    workload: (proxy) => findWorkload(assembly, proxy),
    selectedTargets,
    serviceTargets: (proxy) => selectedTargets.of(proxy) ?? findTargets(assembly, proxy),
  };
}
