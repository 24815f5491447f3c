import { nameHash } from "../../base/name-hash.ts";
import type { Share } from "../root.ts";

/** A node, as far as a share asks for it. */
export interface ShareNode {
  readonly nodeId: string;
  /** Read only if the labels decide. */
  labels(): Readonly<Record<string, unknown>>;
}

/**
 * Whether a node is in a share: by a hash of its id that stays the same for ever, so that raising the percentage only
 * adds nodes, or because it has all of the labels.
 */
export function isInShare(share: Share, node: ShareNode): boolean {
  if (nameHash(node.nodeId) * 100 < share.percent) return true;
  const wanted = Object.entries(share.labels);
  if (wanted.length === 0) return false;
  const labels = node.labels();
  return wanted.every(([key, value]) => labels[key] === value);
}
