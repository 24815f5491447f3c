import type { ObjectStore } from "../../storage/object-store.ts";
import type { Head, Root } from "../root.ts";
import { createSnapshotReader } from "../snapshot-reader.ts";
import { reachableFrom } from "../upkeep/reachable.ts";
import { gatesOfHead, rootsOfHead } from "./head.ts";
import { readHistory } from "./history.ts";

/** What of a store's history is not collected. */
export interface KeptHistory {
  /** Every blob that is named. */
  readonly blobs: ReadonlySet<string>;
  readonly roots: ReadonlyMap<string, Root>;
  /** Generation of the oldest publication that stays; 0 when all do. */
  readonly oldest: number;
}

/**
 * What HEAD names, and the newest part of its history: as many roots that were served as are to be kept, and as many that were
 * only recorded. Collections and canaries in between do not count.
 */
export async function keptHistory(store: ObjectStore, head: Head | undefined, keep: number): Promise<KeptHistory> {
  const blobs = new Set<string>(head === undefined ? [] : gatesOfHead(head));
  const hashes = new Set(head === undefined ? [] : rootsOfHead(head));
  const reader = createSnapshotReader(store);
  let oldest = 0;
  let [served, held] = [0, 0];
  let later: string | undefined;
  for await (const entry of head === undefined ? [] : readHistory(reader, head.publication)) {
    const isHeld = entry.held === true;
    const isMove = !isHeld && entry.root !== later;
    if (isMove && served >= Math.max(keep, 1)) break;
    blobs.add(entry.hash);
    oldest = entry.generation;
    if (isHeld) held += 1;
    else later = entry.root;
    if (isMove) served += 1;
    if (!isHeld || held <= keep) hashes.add(entry.root);
    if (entry.generation === 1) oldest = 0;
  }
  const roots = new Map<string, Root>();
  for (const hash of hashes) {
    for (const blob of await reachableFrom(reader, hash)) blobs.add(blob);
    roots.set(hash, (await reader.root(hash)).root);
  }
  return { blobs, roots, oldest };
}
