import type { SnapshotReader } from "../reader/snapshot-reader.ts";
import type { Head } from "../root.ts";
import { newestRoot, rootAt } from "./head.ts";
import { readHistory } from "./history/history.ts";

/** A root that somebody has named, or why there is none. */
export type NamedRoot =
  | { readonly kind: "found"; readonly root: string }
  | { readonly kind: "absent"; readonly reason: string };

const minDigits = 6;

/**
 * The root that a person names: `SERVED`, `NEWEST`, `HEAD`, `HEAD~2`, a generation, or a root or the beginning of one. A number
 * is a generation where there is one.
 *
 * @param nowMs what HEAD's clock shows
 * @param maxEntries how far the history is looked back on
 */
export async function rootNamedIn(
  reader: SnapshotReader,
  head: Head,
  nowMs: number,
  name: string,
  maxEntries = Number.POSITIVE_INFINITY,
): Promise<NamedRoot> {
  if (name === "SERVED") return { kind: "found", root: rootAt(head, nowMs) };
  if (name === "NEWEST") return { kind: "found", root: newestRoot(head) };
  const back = /^HEAD(?:~(\d+))?$/.exec(name);
  const alike = new Set<string>();
  let seen = 0;
  for await (const { generation, root } of readHistory(reader, head.publication)) {
    if (back === null ? name === String(generation) : seen === Number(back[1] ?? 0)) return { kind: "found", root };
    if (name.length >= minDigits && root.startsWith(name.toLowerCase())) alike.add(root);
    seen += 1;
    if (seen >= maxEntries) break;
  }
  const [only, other] = alike;
  if (other !== undefined)
    return { kind: "absent", reason: `${alike.size} roots begin with ${name}; give more of its digits` };
  // One that was collected from the history may have its blobs still.
  const found = only ?? (/^[0-9a-f]{64}$/.test(name) ? name : undefined);
  if (found !== undefined) return { kind: "found", root: found };
  const all = seen === 1 ? "there is one only" : "`portolan history` lists them";
  return { kind: "absent", reason: `there is no publication ${name}; ${all}` };
}
