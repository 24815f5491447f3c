import { byCodePoint } from "../config/diagnostic.ts";
import type { AssembledCluster, Assembly } from "./assembly.ts";
import { instancesOf } from "./discovery.ts";
import type { Pod } from "./kubernetes/pod.ts";
import { selectablePod } from "./kubernetes/pod-workload.ts";
import { kubernetesTargets, podOfProxy } from "./kubernetes/service-targets.ts";
import type { ProxyQuery } from "./proxy-query.ts";
import { type RegistryState, serviceKey } from "./registry-state.ts";
import type { Service, ServiceTarget, Workload } from "./service.ts";
import { entryTargets } from "./service-entry/entry-targets.ts";
import type { SelectableWorkload } from "./service-entry/workload.ts";

/** Sorted live pods of a namespace, by the map that the namespace's pods are in: sorted once for each change. */
export type PodLists = WeakMap<ReadonlyMap<string, Pod>, readonly Workload[]>;

function clustersFor(assembly: Assembly, proxy: ProxyQuery): readonly AssembledCluster[] {
  const own = assembly.clusters.filter(({ index }) => index.settings.clusterId === proxy.clusterId);
  return proxy.clusterId === "" ? assembly.clusters : own;
}

/** The WorkloadEntry with the proxy's first address: of several one in its namespace, then of its name. */
function entryOfProxy(assembly: Assembly, proxy: ProxyQuery): SelectableWorkload | undefined {
  const [address] = proxy.addresses;
  if (address === undefined) return undefined;
  const all = assembly.entries.workloadsByAddress.get(address) ?? [];
  const near = all.filter((workload) => workload.namespace === proxy.namespace);
  return near.find((workload) => `${workload.name}.${workload.namespace}` === proxy.id) ?? near[0] ?? all[0];
}

function findWorkload(assembly: Assembly, proxy: ProxyQuery): Workload | undefined {
  for (const { index } of clustersFor(assembly, proxy)) {
    const pod = podOfProxy(index, proxy);
    if (pod !== undefined) return pod.workload;
  }
  const entry = entryOfProxy(assembly, proxy);
  return entry?.namespace === proxy.namespace ? entry.workload : undefined;
}

/** What ServiceEntries can take the proxy for: the WorkloadEntries and pods of its namespace at its addresses. */
function workloadsAt(assembly: Assembly, proxy: ProxyQuery): readonly SelectableWorkload[] {
  const found = new Set<SelectableWorkload>();
  for (const address of proxy.addresses) {
    for (const entry of assembly.entries.workloadsByAddress.get(address) ?? []) found.add(entry);
    for (const { index } of assembly.clusters) {
      for (const pod of index.podsByAddress.get(address) ?? []) {
        const workload = pod.workload.addresses[0] === address ? selectablePod(pod, index.settings) : undefined;
        if (workload !== undefined) found.add(workload);
      }
    }
  }
  return [...found].filter((workload) => workload.namespace === proxy.namespace);
}

function findTargets(assembly: Assembly, proxy: ProxyQuery): readonly ServiceTarget[] {
  const final = (service: Service): Service => assembly.completed.get(service) ?? service;
  const [primary] = assembly.clusters;
  const entry = entryOfProxy(assembly, proxy);
  const targets: ServiceTarget[] = [];
  for (const cluster of clustersFor(assembly, proxy)) {
    for (const target of kubernetesTargets(cluster.index, proxy, cluster === primary ? entry : undefined)) {
      const own = target.service.service;
      const merged = assembly.merged.get(`${own.attributes.namespace}/${own.hostname}`) ?? own;
      targets.push({ service: final(merged), servicePort: target.servicePort, targetPort: target.targetPort });
    }
  }
  const fromEntries = entryTargets(assembly.entries, proxy, workloadsAt(assembly, proxy));
  for (const target of [...fromEntries, ...otherTargets(assembly, proxy)]) {
    targets.push({ ...target, service: final(target.service) });
  }
  return targets.sort(
    (a, b) =>
      a.service.creationTimestampMs - b.service.creationTimestampMs ||
      byCodePoint(a.service.hostname, b.service.hostname),
  );
}

/** Instances of other registries at the proxy's addresses: those registries know addresses and nothing else of it. */
function otherTargets(assembly: Assembly, proxy: ProxyQuery): readonly ServiceTarget[] {
  return assembly.others.flatMap(({ services, endpoints }) =>
    services.flatMap((service) =>
      instancesOf(service, endpoints.get(serviceKey(service)) ?? [])
        .filter(({ endpoint }) => endpoint.addresses.some((address) => proxy.addresses.includes(address)))
        .map(({ servicePort, endpoint }) => ({ service, servicePort, targetPort: endpoint.port })),
    ),
  );
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
export function createState(assembly: Assembly, podLists: PodLists): RegistryState {
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
    serviceTargets: (proxy) => findTargets(assembly, proxy),
  };
}
