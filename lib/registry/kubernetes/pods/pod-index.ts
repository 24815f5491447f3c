import { textOf } from "../../../base/untyped.ts";
import { sameValue } from "../../changes/same.ts";
import { ShardedMap } from "../../changes/sharded-map.ts";
import { type ClusterIndex, discovered } from "../cluster-index.ts";
import type { KubernetesObject } from "../object.ts";
import { byObjectName, type KindChanges, writes } from "../object-changes.ts";
import { type Pod, podOf } from "./pod.ts";

/** Says whether two readings of a pod mean the same to every conversion. */
export function samePod(a: Pod, b: Pod): boolean {
  return (
    a.live === b.live &&
    a.saysUnready === b.saysUnready &&
    a.workloadName === b.workloadName &&
    sameValue(a.workload, b.workload) &&
    sameValue(a.object.spec, b.object.spec)
  );
}

/** The indexes of pods after a change. */
export interface PodsUpdate {
  readonly pods: ShardedMap<Pod>;
  readonly podsByNamespace: ReadonlyMap<string, ReadonlyMap<string, Pod>>;
  readonly podsByAddress: ShardedMap<readonly Pod[]>;
  /** Before and after, of those that mean something else now. */
  readonly changed: readonly Pod[];
}

/** Reads the pods that came, and takes those that went out of every index. */
export function updatePods(index: ClusterIndex, changes: KindChanges): PodsUpdate {
  const net = writes(changes, "Pod", (object) =>
    discovered(index, object) ? podOf(object, index.nodes.get(textOf(nodeNameOf(object))), index.settings) : undefined,
  );
  if (index.pods.size === 0) return firstPods(net);
  const written: [string, Pod | undefined][] = [];
  const changed: Pod[] = [];
  const byAddress = new Map<string, Pod[]>();
  const listAt = (address: string): Pod[] => {
    let list = byAddress.get(address);
    if (list === undefined) {
      list = [...(index.podsByAddress.get(address) ?? [])];
      byAddress.set(address, list);
    }
    return list;
  };
  for (const [key, after] of net) {
    const before = index.pods.get(key);
    if (before === undefined ? after === undefined : after !== undefined && samePod(before, after)) continue;
    written.push([key, after]);
    if (before !== undefined) {
      changed.push(before);
      for (const address of before.live ? before.workload.addresses : []) {
        const list = listAt(address);
        list.splice(list.indexOf(before), 1);
      }
    }
    if (after !== undefined) {
      changed.push(after);
      for (const address of after.live ? after.workload.addresses : []) listAt(address).push(after);
    }
  }
  const addressChanges = [...byAddress].map(([address, list]) => {
    if (list.length > 1) list.sort(byObjectName);
    return [address, list.length === 0 ? undefined : list] as const;
  });
  return {
    pods: index.pods.with(written),
    podsByNamespace: withPods(index.podsByNamespace, written),
    podsByAddress: index.podsByAddress.with(addressChanges),
    changed,
  };
}

/** What `updatePods` comes to where there were no pods. */
function firstPods(read: ReadonlyMap<string, Pod | undefined>): PodsUpdate {
  const changed: Pod[] = [];
  const there: [string, Pod][] = [];
  const byAddress = new Map<string, Pod[]>();
  for (const [key, pod] of read) {
    if (pod === undefined) continue;
    changed.push(pod);
    there.push([key, pod]);
    if (!pod.live) continue;
    for (const address of pod.workload.addresses) {
      const list = byAddress.get(address);
      if (list === undefined) byAddress.set(address, [pod]);
      else list.push(pod);
    }
  }
  for (const list of byAddress.values()) if (list.length > 1) list.sort(byObjectName);
  return {
    pods: ShardedMap.from(there),
    podsByNamespace: withPods(new Map(), there),
    podsByAddress: ShardedMap.from(byAddress),
    changed,
  };
}

/** The map of maps with the pods written; a namespace that nothing was written to keeps its map. */
function withPods(
  byNamespace: ReadonlyMap<string, ReadonlyMap<string, Pod>>,
  written: Iterable<readonly [string, Pod | undefined]>,
): ReadonlyMap<string, ReadonlyMap<string, Pod>> {
  const copied = new Map<string, Map<string, Pod>>();
  for (const [key, pod] of written) {
    const slash = key.indexOf("/");
    const namespace = key.slice(0, slash);
    let pods = copied.get(namespace);
    if (pods === undefined) {
      pods = new Map(byNamespace.get(namespace));
      copied.set(namespace, pods);
    }
    if (pod === undefined) pods.delete(key.slice(slash + 1));
    else pods.set(key.slice(slash + 1), pod);
  }
  return copied.size === 0 ? byNamespace : new Map([...byNamespace, ...copied]);
}

function nodeNameOf(object: KubernetesObject): unknown {
  const spec = object.spec;
  return typeof spec === "object" && spec !== null && "nodeName" in spec ? spec.nodeName : undefined;
}
