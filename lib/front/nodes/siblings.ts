import type { ExplainedRefusal } from "./explain-refusal.ts";
import { requestingNodeKey } from "./requesting-node.ts";
import type { UnmatchedNode } from "./unmatched-nodes.ts";

/** What other processes of the same front have heard: a node asks whichever of them its connection leads to. */
export interface Siblings {
  refusals(): Promise<readonly ExplainedRefusal[]>;
  strangers(): Promise<readonly UnmatchedNode[]>;
}

/** A front in one process. */
export const noSiblings: Siblings = { refusals: async () => [], strangers: async () => [] };

/** Refusals of all, the latest first; of one that two have heard of, the later. */
export const joinedRefusals = (all: readonly ExplainedRefusal[]): readonly ExplainedRefusal[] =>
  latestOf(all, (refusal) => `${refusal.type} ${refusal.name} ${requestingNodeKey(refusal)}`);

/** The same of strangers. */
export const joinedUnmatched = (all: readonly UnmatchedNode[]): readonly UnmatchedNode[] =>
  latestOf(all, requestingNodeKey);

function latestOf<T extends { readonly sinceMs: number }>(all: readonly T[], keyOf: (one: T) => string): readonly T[] {
  const found = new Map<string, T>();
  for (const one of all.toSorted((a, b) => b.sinceMs - a.sinceMs))
    if (!found.has(keyOf(one))) found.set(keyOf(one), one);
  return [...found.values()];
}
