import type { NodeClaims } from "../snapshot/classifier.ts";
import type { Head } from "../snapshot/root.ts";
import { createSnapshotReader, type LoadedRoot, rootAt, type SnapshotReader } from "../snapshot/snapshot-reader.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { createHeads, type Heads } from "./heads.ts";
import { type FrontMetrics, noMetrics } from "./metrics.ts";
import { type Placement, placeNode } from "./place-node.ts";
import { createRefusalWatch, type Refusal, type RefusalWatch } from "./refusals.ts";

export interface FrontOptions {
  readonly store: ObjectStore;
  /** How old HEAD may be; one second by default. */
  readonly headTtlMs?: number;
  /** Longest time to hold a poll that has nothing new; 0, the default, never holds. */
  readonly maxHoldMs?: number;
  readonly metrics?: FrontMetrics;
  readonly now?: () => number;
  readonly onRefusal?: (refusal: Refusal) => void;
  readonly onError?: (cause: unknown) => void;
}

/** Everything that the front's handlers share: the store seen through caches. */
export interface Front {
  readonly reader: SnapshotReader;
  readonly heads: Heads;
  readonly metrics: FrontMetrics;
  readonly refusals: RefusalWatch;
  readonly maxHoldMs: number;
  /** The root in force. @returns undefined before the first publish */
  served(): Promise<LoadedRoot | undefined>;
  /** The class of a node, remembered for `recall`. */
  place(loaded: LoadedRoot, claims: NodeClaims): Promise<Placement>;
  /** The class of a node that was placed in this root before, by its id and cluster. */
  recall(loaded: LoadedRoot, nodeId: string, nodeCluster: string): string | undefined;
  readonly onError: (cause: unknown) => void;
  close(): void;
}

const maxRemembered = 50_000;

export function createFront(options: FrontOptions): Front {
  const now = options.now ?? Date.now;
  const metrics = options.metrics ?? noMetrics;
  const onError = options.onError ?? (() => {});
  const reader = createSnapshotReader(options.store);
  const heads = createHeads(options.store, {
    ttlMs: options.headTtlMs ?? 1_000,
    now,
    onError: (cause) => {
      metrics.headError();
      onError(cause);
    },
  });
  const refusals = createRefusalWatch(now, (refusal) => {
    metrics.refusal(refusal.type);
    options.onRefusal?.(refusal);
  });
  const placed = new WeakMap<LoadedRoot, Map<string, string>>();
  const memoryOf = (loaded: LoadedRoot) => {
    const memory = placed.get(loaded) ?? new Map<string, string>();
    placed.set(loaded, memory);
    return memory;
  };
  const loadedNow = (head: Head | undefined) => (head === undefined ? undefined : reader.root(rootAt(head, now())));

  return {
    reader,
    heads,
    metrics,
    refusals,
    maxHoldMs: options.maxHoldMs ?? 0,
    served: async () => loadedNow(await heads.current()),
    async place(loaded, claims) {
      const placement = await placeNode(reader, loaded, claims);
      const memory = memoryOf(loaded);
      if (memory.size >= maxRemembered) memory.clear();
      if (placement.kind === "placed") memory.set(`${claims.id}\n${claims.cluster}`, placement.classId);
      return placement;
    },
    recall: (loaded, nodeId, nodeCluster) => memoryOf(loaded).get(`${nodeId}\n${nodeCluster}`),
    onError,
    close: () => heads.close(),
  };
}
