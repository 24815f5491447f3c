import { byCodePoint } from "../base/diagnostic.ts";
import type { Assembly } from "./assembly.ts";
import { type SelectedTargets, serviceKey } from "./changes/registry-state.ts";
import { selectablePod } from "./kubernetes/pods/pod-workload.ts";
import {
  type KubernetesTarget,
  kubernetesTargets,
  sliceTargets,
  type TargetIndex,
} from "./kubernetes/service-targets.ts";
import type { ProxyQuery } from "./proxy-query.ts";
import type { Service, ServiceTarget } from "./service.ts";
import type { EntryIndex } from "./service-entry/entry-index.ts";
import { entryTargets } from "./service-entry/entry-targets.ts";
import type { SelectableWorkload } from "./service-entry/workload.ts";
import { instancesOf } from "./service-instances.ts";

/** What targets are found in. */
export interface TargetParts<I extends TargetIndex = TargetIndex>
  extends Pick<Assembly, "entries" | "merged" | "completed" | "others"> {
  readonly clusters: readonly { readonly index: I }[];
}

/** What selection reads of an assembly, and nothing else: it outlives the assembly. */
export function targetParts({ clusters, entries, merged, completed, others }: Assembly): TargetParts {
  const indexes = clusters.map(({ index: { settings, pods, podsByAddress, templatePods, servicesByNamespace } }) => ({
    index: { settings, pods, podsByAddress, templatePods, servicesByNamespace },
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

export function createSelectedTargets(parts: TargetParts): SelectedTargets {
  // Pods of one service serve the same list of it.
  const known = new WeakMap<readonly KubernetesTarget[], readonly ServiceTarget[]>();
  const settled = (own: readonly KubernetesTarget[]): readonly ServiceTarget[] => {
    const before = known.get(own);
    if (before !== undefined) return before;
    const targets = settledIn(parts, own);
    known.set(own, targets);
    return targets;
  };
  return { of: (proxy) => targetsIn(parts, proxy, settled, () => undefined) };
}

/** All that workloads back. */
export const findTargets = (assembly: Assembly, proxy: ProxyQuery): readonly ServiceTarget[] =>
  targetsIn(
    assembly,
    proxy,
    (own) => settledIn(assembly, own),
    (index) => sliceTargets(index, proxy),
  ) ?? [];

/**
 * @param settled gives what a workload serves in a cluster as `settledIn` does
 * @param ofSlices asked for a pod that no service of its cluster selects; undefined: it cannot be said
 */
function targetsIn<I extends TargetIndex>(
  parts: TargetParts<I>,
  proxy: ProxyQuery,
  settled: (own: readonly KubernetesTarget[]) => readonly ServiceTarget[],
  ofSlices: (index: I) => readonly KubernetesTarget[] | undefined,
): readonly ServiceTarget[] | undefined {
  const [primary] = parts.clusters;
  const entry = entryOfProxy(parts.entries, proxy);
  const ofClusters: (readonly ServiceTarget[])[] = [];
  for (const cluster of clustersFor(parts.clusters, proxy)) {
    const { index } = cluster;
    const own = kubernetesTargets(index, proxy, cluster === primary ? entry : undefined) ?? ofSlices(index);
    if (own === undefined) return undefined;
    ofClusters.push(settled(own));
  }
  const fromEntries = entryTargets(parts.entries, proxy, () => workloadsAt(parts, proxy));
  const beside = [...fromEntries, ...otherTargets(parts, proxy)];
  const [only] = ofClusters;
  if (only !== undefined && ofClusters.length === 1 && beside.length === 0) return only;
  const finals = beside.map((target) => ({ ...target, service: finalIn(parts, target.service) }));
  return [...ofClusters.flat(), ...finals].sort(byService);
}

/** What a workload serves in a cluster, with the services as they are when all clusters are joined; in order. */
const settledIn = <I extends TargetIndex>(
  parts: TargetParts<I>,
  own: readonly KubernetesTarget[],
): readonly ServiceTarget[] =>
  own
    .map(({ service: { service }, servicePort, targetPort }) => {
      const merged = parts.merged.get(serviceKey(service)) ?? service;
      return { service: finalIn(parts, merged), servicePort, targetPort };
    })
    .sort(byService);

const finalIn = ({ completed }: Pick<TargetParts, "completed">, service: Service): Service =>
  completed.get(service) ?? service;

const byService = ({ service: a }: ServiceTarget, { service: b }: ServiceTarget): number =>
  a.creationTimestampMs - b.creationTimestampMs || byCodePoint(a.hostname, b.hostname);

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
