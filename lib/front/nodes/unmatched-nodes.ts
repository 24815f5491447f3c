import { shown } from "../excess.ts";
import type { Placement } from "./place-node.ts";
import { type RequestingNode, requestingNodeKey } from "./requesting-node.ts";

/** A node that matches no class. */
export interface UnmatchedNode extends RequestingNode {
  /** Cut off where it is very long. */
  readonly nodeId: string;
  /** `unknown` gets nothing; `default` gets the default class of its type and namespace, which may not be what it should have. */
  readonly kind: "unknown" | "default";
  readonly reason: string;
  readonly sinceMs: number;
}

/** Nodes that sent requests and match no class. */
export interface UnmatchedWatch {
  /** Records the class assignment of each request. */
  placed(who: RequestingNode, placement: Placement): void;
  /** Nodes with a recent request, the latest first. */
  active(): readonly UnmatchedNode[];
}

/** Further nodes are neither reported nor listed until some of these expire, so that made-up node ids cannot fill a log. */
const maxUnmatched = 1_000;

/**
 * @param onStranger called once per node, for as long as it sends requests
 * @param goneMs time after its last request until a node is forgotten
 */
export function createUnmatchedWatch(
  now: () => number,
  onStranger: (unmatched: UnmatchedNode) => void,
  goneMs: number,
): UnmatchedWatch {
  /** By `requestingNodeKey`, the least recent request first. */
  const nodes = new Map<string, UnmatchedNode & { readonly seenMs: number }>();

  function forgetTheGone(): void {
    for (const [key, { seenMs }] of nodes) {
      if (seenMs >= now() - goneMs) return;
      nodes.delete(key);
    }
  }

  return {
    placed({ nodeId: id, clusterId }, placement) {
      // Whoever may not be the node says nothing of it.
      if (placement.kind === "forbidden") return;
      if (nodes.size === 0 && placement.kind === "placed" && placement.byDefault === undefined) return;
      const who = { nodeId: shown(id), ...(clusterId === undefined ? {} : { clusterId: shown(clusterId) }) };
      const key = requestingNodeKey(who);
      const before = nodes.get(key);
      nodes.delete(key);
      const found = mismatchOf(placement);
      if (found === undefined) return;
      const nowMs = now();
      const isNews = before?.kind !== found.kind;
      if (isNews) forgetTheGone();
      if (nodes.size >= maxUnmatched) return;
      const unmatched = { ...who, ...found, sinceMs: isNews ? nowMs : before.sinceMs };
      nodes.set(key, { ...unmatched, seenMs: nowMs });
      if (isNews) onStranger(unmatched);
    },
    active() {
      forgetTheGone();
      return [...nodes.values()].map(({ seenMs: _seenMs, ...unmatched }) => unmatched).reverse();
    },
  };
}

function mismatchOf(placement: Placement): Pick<UnmatchedNode, "kind" | "reason"> | undefined {
  if (placement.kind === "unplaced") return { kind: "unknown", reason: placement.reason };
  if (placement.kind !== "placed" || placement.byDefault === undefined) return undefined;
  return {
    kind: "default",
    reason: `no class was compiled for it: it gets "${placement.classId}", the default of ${placement.byDefault}`,
  };
}
