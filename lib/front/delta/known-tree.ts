import type { NodeClaims } from "../../base/classifier.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import type { LoadedTree } from "../../snapshot/reader/loaded.ts";
import type { ResourceType, ShapeName } from "../../snapshot/resource-type.ts";
import type { Caller } from "../auth/caller.ts";
import type { Front } from "../front.ts";
import { placeNode } from "../nodes/place-node.ts";
import type { HeldVersion } from "./nonce.ts";

/** Where the trees of roots are read that were in force before. */
export type KnownTreeServices = Pick<Front, "reader" | "browsing" | "recentRoots" | "olderRoots">;

/** Whose tree is looked for. */
export interface TreeQuestion {
  readonly node: NodeClaims;
  readonly caller: Caller;
  readonly type: ResourceType;
  readonly shape: ShapeName;
}

/**
 * The tree that a reader says it holds: in the root that it names, or in one that was served here lately. It is one that this very node
 * was to have, so that nobody learns from it what others had.
 *
 * @returns undefined when the store has it no more, or never led this node to it
 */
export async function knownTree(
  front: KnownTreeServices,
  { version, root }: HeldVersion,
  { node, caller, type, shape }: TreeQuestion,
): Promise<LoadedTree | undefined> {
  const recent = front.recentRoots();
  for (const hash of root === undefined ? recent.toReversed() : [root]) {
    const isRecent = recent.includes(hash);
    // A root of long ago pushes nothing out that is about to be served.
    const reader = isRecent ? front.reader : front.browsing;
    const leave = isRecent ? undefined : await front.olderRoots.enter(1);
    try {
      const loaded = await reader.root(hash);
      const placement = await placeNode(reader, loaded, node, caller);
      const proxyClass = placement.kind === "placed" ? loaded.classes.get(placement.classId) : undefined;
      if (proxyClass === undefined) continue;
      const tree = await reader.tree(loaded.root, type, proxyClass[shape][type]);
      if (wireVersion(tree.version) === version) return tree;
    } catch (cause) {
      if (!(cause instanceof PortolanError)) throw cause;
    } finally {
      leave?.();
    }
  }
  return undefined;
}
