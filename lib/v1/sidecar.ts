import { byCodePoint } from "../base/diagnostic.ts";
import type { Memo } from "../incremental/memo.ts";
import type { NodeId } from "../legacy/node-id.ts";
import { type BuiltCluster, uniqueClusters } from "./clusters/clusters.ts";
import type { Cluster, Listener } from "./documents.ts";
import type { LegacyInstance, LegacyMesh } from "./legacy-world.ts";
import { httpListener } from "./listeners/http-listener.ts";
import { inboundListeners } from "./listeners/inbound-listeners.ts";
import { type Outbound, outboundOf } from "./listeners/outbound-listeners.ts";
import { type BuiltListener, managementListeners } from "./listeners/tcp-listeners.ts";
import { runsHere } from "./runs-here.ts";

/** What a node listens on by itself, beside what most nodes do. */
export interface OwnAndOutbound {
  /** Each address once; they take the place of outbound ones at theirs. */
  readonly listeners: readonly Listener[];
  /** Each name once, sorted: all before those that are outbound. */
  readonly clusters: readonly Cluster[];
  readonly outbound: Outbound;
}

/**
 * Everything that a sidecar (or, for its clusters, a router) listens on.
 *
 * @see docs/how-istio-does-it/legacy-v1.md#clusters
 * @see docs/how-istio-does-it/legacy-v1.md#listeners
 */
export function sidecarParts(
  world: LegacyMesh,
  node: NodeId,
  instances: readonly LegacyInstance[],
  memo: Memo,
): OwnAndOutbound {
  const outbound = outboundOf(memo, { world, node }, runsHere(instances, memo));
  const own = node.type === "router" || world.mesh.proxyListenPort <= 0 ? [] : ownListeners();
  const mixed = outbound.mixed.map((options) => httpListener({ ...options, services: instances }, world, node));
  const byAddress = new Map<string, Listener>();
  for (const listener of [...own.flatMap((one) => one.listener ?? []), ...mixed]) {
    if (!byAddress.has(listener.address)) byAddress.set(listener.address, listener);
  }
  const clusters = own.flatMap((one): readonly BuiltCluster[] => one.clusters);
  return {
    listeners: [...byAddress.values()],
    clusters: uniqueClusters(clusters).map(({ cluster }) => cluster),
    outbound,
  };

  /** Of what runs here, and for probes of it where nothing else has the port. */
  function ownListeners(): readonly BuiltListener[] {
    const inbound = inboundListeners({ world, node, instances });
    const taken = new Set(inbound.map(({ listener }) => listener?.address));
    const isFree = ({ listener }: BuiltListener): boolean =>
      listener !== undefined && !taken.has(listener.address) && !outbound.addresses.has(listener.address);
    return [...inbound, ...managementListeners(world, node).filter(isFree)];
  }
}

/** A listener, or a range of the outbound ones: the first, and the one behind the last. */
export type ListenerItem = Listener | readonly [from: number, to: number];

/**
 * All listeners of a node, sorted by address.
 *
 * @param filled an address of its own as it is sorted: in a template that of the node is missing
 */
export function sortedListeners(
  { listeners, outbound }: OwnAndOutbound,
  filled: (address: string) => string = (address) => address,
): readonly ListenerItem[] {
  const own = listeners.map((listener) => ({ listener, address: filled(listener.address) }));
  const items: ListenerItem[] = [];
  let from = 0;
  for (const { listener, address } of own.sort((a, b) => byCodePoint(a.address, b.address))) {
    const at = addressClassOf(outbound.listeners, address);
    items.push([from, at], listener);
    from = outbound.listeners[at]?.address === address ? at + 1 : at;
  }
  return [...items, [from, outbound.listeners.length]];
}

/** The place of the first listener whose address does not come before another. */
function addressClassOf(sorted: readonly Listener[], address: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (byCodePoint(sorted[middle]?.address ?? "", address) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
