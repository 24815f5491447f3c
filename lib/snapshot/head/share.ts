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
  if (percentileOf(node.nodeId) < share.percent) return true;
  const wanted = Object.entries(share.labels);
  if (wanted.length === 0) return false;
  const labels = node.labels();
  return wanted.every(([key, value]) => labels[key] === value);
}

/** From 0 to just below 100, evenly spread over ids (FNV-1a, mixed). */
function percentileOf(nodeId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < nodeId.length; i += 1) hash = Math.imul(hash ^ nodeId.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32) * 100;
}
