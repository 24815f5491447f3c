import type { AssembledCluster, Assembly } from "../assembly.ts";
import type { ClusterContext, ClusterIndex } from "../kubernetes/cluster-index.ts";
import { networkOf } from "../kubernetes/settings.ts";
import { type ClusterDifference, indexCluster, noDifference, updateCluster } from "../kubernetes/update-cluster.ts";
import { clusterNetworks } from "../networks.ts";
import type { RegistryInput } from "../registry-input.ts";
import {
  type EntryDifference,
  type EntryIndex,
  type EntryUpdate,
  emptyEntries,
  updateEntryIndex,
} from "../service-entry/entry-index.ts";
import { listChanges } from "./changes.ts";
import type { RegistryContent } from "./registry-content.ts";
import { sameValue } from "./same.ts";

function contextsOf(input: RegistryInput): readonly ClusterContext[] {
  return input.clusters.map((cluster) => ({
    clusterId: cluster.id,
    domain: input.domain,
    trustDomain: input.meshConfig.trustDomain,
    network: cluster.network ?? "",
    networks: clusterNetworks(input.meshNetworks, cluster.id),
    systemNamespace: input.systemNamespace ?? "istio-system",
    discoverySelectors: input.meshConfig.discoverySelectors,
    statedEndpoints: cluster.statedEndpoints ?? [],
  }));
}

/** Says whether anything but objects and configs differs, so that nothing made before can be used as it is. */
export function sameTerms(a: RegistryInput, b: RegistryInput): boolean {
  return (
    a.domain === b.domain &&
    a.systemNamespace === b.systemNamespace &&
    a.addressAllocation === b.addressAllocation &&
    (a.meshNetworks === b.meshNetworks || sameValue(a.meshNetworks, b.meshNetworks)) &&
    a.meshConfig.trustDomain === b.meshConfig.trustDomain &&
    sameValue(a.meshConfig.discoverySelectors, b.meshConfig.discoverySelectors) &&
    a.clusters.length === b.clusters.length &&
    a.clusters.every(({ id, network, statedEndpoints = [] }, at) => {
      const other = b.clusters[at];
      return id === other?.id && network === other.network && sameValue(statedEndpoints, other.statedEndpoints ?? []);
    })
  );
}

/** The registries' parts of the next assembly, and what differs in them from the former one. */
export interface Changed {
  /** The differences name everything there is, and what they do not name is gone. */
  readonly complete: boolean;
  readonly others: readonly RegistryContent[];
  /** Contents of other registries that went and came. */
  readonly changedOthers: readonly RegistryContent[];
  readonly clusters: readonly AssembledCluster[];
  readonly entries: EntryIndex;
  readonly clusterDifferences: readonly ClusterDifference[];
  readonly entryDifference: EntryDifference;
}

/** Everything made from the input alone; identities are kept where a former assembly has the same cluster. */
export function fromNothing(input: RegistryInput, former: Assembly | undefined): Changed {
  const updates = contextsOf(input).map((context, at) => {
    const objects = input.clusters[at]?.objects ?? [];
    const known = former?.clusters.find(({ index }) => index.context.clusterId === context.clusterId);
    return { objects, update: indexCluster(context, objects, known?.index) };
  });
  const entries = entriesFrom(input, updates[0]?.update.index, former);
  const others = input.others ?? [];
  return {
    complete: true,
    others,
    changedOthers: others,
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

/** What a former assembly of the same terms becomes with the objects and configs of the input. */
export function fromFormer(input: RegistryInput, former: Assembly): Changed {
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
    complete: false,
    others,
    changedOthers: [...removed, ...added],
    clusters: updates.map(({ objects, index }) => ({ objects, index })),
    entries: entries.index,
    clusterDifferences: updates.map(({ difference }) => difference),
    entryDifference: entries.difference,
  };
}
