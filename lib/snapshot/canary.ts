import type { Canary } from "./root.ts";

/**
 * Whether a node takes part in a canary: by its labels, or by a hash of its id that stays the same for ever, so that raising the
 * percentage only adds nodes.
 *
 * @param labels undefined when they are not known
 * @returns undefined when the labels decide and are not known
 */
export function isInCanary(
  canary: Canary,
  nodeId: string,
  labels: Readonly<Record<string, unknown>> | undefined,
): boolean | undefined {
  if (percentileOf(nodeId) < canary.percent) return true;
  const wanted = Object.entries(canary.labels);
  if (wanted.length === 0) return false;
  return labels === undefined ? undefined : wanted.every(([key, value]) => labels[key] === value);
}

/** From 0 to just below 100, evenly spread over ids (FNV-1a, mixed). */
function percentileOf(nodeId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < nodeId.length; i += 1) hash = Math.imul(hash ^ nodeId.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32) * 100;
}
