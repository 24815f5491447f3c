import { byCodePoint } from "../config/diagnostic.ts";
import type { Assembly } from "./assembly.ts";
import { instancesOf } from "./discovery.ts";
import { selectablePod } from "./kubernetes/pod-workload.ts";
import {
  type KubernetesTarget,
  kubernetesTargets,
  sliceTargets,
  type TargetIndex,
} from "./kubernetes/service-targets.ts";
import type { ProxyQuery } from "./proxy-query.ts";
import { type SelectedTargets, serviceKey } from "./registry-state.ts";
import type { Service, ServiceTarget } from "./service.ts";
import type { EntryIndex } from "./service-entry/entry-index.ts";
import { entryTargets } from "./service-entry/entry-targets.ts";
import type { SelectableWorkload } from "./service-entry/workload.ts";

/** What targets are found in. */
export interface TargetParts<I extends TargetIndex = TargetIndex>
  extends Pick<Assembly, "entries" | "merged" | "completed" | "others"> {
  readonly clusters: readonly { readonly index: I }[];
}

/** What selection reads of an assembly, and nothing else: it outlives the assembly. */
export function targetParts({ clusters, entries, merged, completed, others }: Assembly): TargetParts {
  const indexes = clusters.map(({ index: { settings, pods, podsByAddress, standIns, servicesByNamespace } }) => ({
    index: { settings, pods, podsByAddress, standIns, servicesByNamespace },
  }));
  return { clusters: indexes, entries, merged, completed, others };
}

/** What two of them are compared by. */
export const listParts = ({ clusters, entries, merged, completed, others }: TargetParts): readonly unknown[] => [
  merged,
  completed,
  ...Object.values(entries),
  ...others,
  ...clusters.flatMap(({ index }) => Object.values(index)),
];

export const createSelectedTargets = (parts: TargetParts): SelectedTargets => ({
  of: (proxy) => targetsIn(parts, proxy, () => undefined),
});

/** All that workloads back. */
export const findTargets = (assembly: Assembly, proxy: ProxyQuery): readonly ServiceTarget[] =>
  targetsIn(assembly, proxy, (index) => sliceTargets(index, proxy)) ?? [];

/** @param ofSlices asked for a pod that no service of its cluster selects; undefined: it cannot be said */
function targetsIn<I extends TargetIndex>(
  parts: TargetParts<I>,
  proxy: ProxyQuery,
  ofSlices: (index: I) => readonly KubernetesTarget[] | undefined,
): readonly ServiceTarget[] | undefined {
  const final = (service: Service): Service => parts.completed.get(service) ?? service;
  const [primary] = parts.clusters;
  const entry = entryOfProxy(parts.entries, proxy);
  const targets: ServiceTarget[] = [];
  for (const cluster of clustersFor(parts.clusters, proxy)) {
    const { index } = cluster;
    const own = kubernetesTargets(index, proxy, cluster === primary ? entry : undefined) ?? ofSlices(index);
    if (own === undefined) return undefined;
    for (const { service, servicePort, targetPort } of own) {
      const { attributes, hostname } = service.service;
      const merged = parts.merged.get(`${attributes.namespace}/${hostname}`) ?? service.service;
      targets.push({ service: final(merged), servicePort, targetPort });
    }
  }
  const fromEntries = entryTargets(parts.entries, proxy, () => workloadsAt(parts, proxy));
  for (const target of [...fromEntries, ...otherTargets(parts, proxy)]) {
    targets.push({ ...target, service: final(target.service) });
  }
  return targets.sort(
    (a, b) =>
      a.service.creationTimestampMs - b.service.creationTimestampMs ||
      byCodePoint(a.service.hostname, b.service.hostname),
  );
}

/** The clusters that a proxy can be in: its own, or any where it names none. */
export function clustersFor<C extends { readonly index: Pick<TargetIndex, "settings"> }>(
  clusters: readonly C[],
  proxy: ProxyQuery,
): readonly C[] {
  return proxy.clusterId === ""
    ? clusters
    : clusters.filter(({ index }) => index.settings.clusterId === proxy.clusterId);
}

/** The WorkloadEntry with the proxy's first address: of several one in its namespace, then of its name. */
export function entryOfProxy(entries: EntryIndex, proxy: ProxyQuery): SelectableWorkload | undefined {
  const [address] = proxy.addresses;
  if (address === undefined) return undefined;
  const all = entries.workloadsByAddress.get(address) ?? [];
  const near = all.filter((workload) => workload.namespace === proxy.namespace);
  return near.find((workload) => `${workload.name}.${workload.namespace}` === proxy.id) ?? near[0] ?? all[0];
}

/** What ServiceEntries can take the proxy for: the WorkloadEntries and pods of its namespace at its addresses. */
function workloadsAt({ entries, clusters }: TargetParts, proxy: ProxyQuery): readonly SelectableWorkload[] {
  const found = new Set<SelectableWorkload>();
  for (const address of proxy.addresses) {
    for (const entry of entries.workloadsByAddress.get(address) ?? []) found.add(entry);
    for (const { index } of clusters) {
      for (const pod of index.podsByAddress.get(address) ?? []) {
        const workload = pod.workload.addresses[0] === address ? selectablePod(pod, index.settings) : undefined;
        if (workload !== undefined) found.add(workload);
      }
    }
  }
  return [...found].filter((workload) => workload.namespace === proxy.namespace);
}

/** Instances of other registries at the proxy's addresses: those registries know addresses and nothing else of it. */
function otherTargets({ others }: TargetParts, proxy: ProxyQuery): readonly ServiceTarget[] {
  return others.flatMap(({ services, endpoints }) =>
    services.flatMap((service) =>
      instancesOf(service, endpoints.get(serviceKey(service)) ?? [])
        .filter(({ endpoint }) => endpoint.addresses.some((address) => proxy.addresses.includes(address)))
        .map(({ servicePort, endpoint }) => ({ service, servicePort, targetPort: endpoint.port })),
    ),
  );
}
