import { PortolanError } from "../../../base/diagnostic.ts";
import type { ObjectStore } from "../../../storage/object-store.ts";
import { createSnapshotReader } from "../../reader/snapshot-reader.ts";
import type { Head, Root, SourceVersion } from "../../root.ts";
import { reachableFrom } from "../../upkeep/reachable.ts";
import { gatesOfHead, rootsOfHead } from "../head.ts";
import { configurationIn, type HistoryEntry, readChanges, readUnbroken } from "./history.ts";

/** What of a store's history is not collected. */
export interface KeptHistory {
  /** Every blob that is named. */
  readonly blobs: ReadonlySet<string>;
  readonly roots: ReadonlyMap<string, Root>;
  /** Versions of sources whose configuration HEAD holds. */
  readonly held: readonly SourceVersion[];
  /** Generation of the oldest publication that stays; 0 when all do. */
  readonly oldest: number;
}

/**
 * What HEAD names, and the newest part of its history: as many roots that were served as are to be kept, as many configurations that were
 * served, and as many roots that were only recorded. Collections and canaries in between do not count. Endpoints may change a thousand
 * times between two configurations, so both are counted.
 */
export async function keptHistory(store: ObjectStore, head: Head | undefined, keep: number): Promise<KeptHistory> {
  const reader = createSnapshotReader(store);
  const kept: Kept = {
    blobs: new Set(head === undefined ? [] : gatesOfHead(head)),
    hashes: new Set(head === undefined ? [] : rootsOfHead(head)),
  };
  const byRoot = head === undefined ? [] : readUnbroken(reader, head.publication);
  const oldest = await keepNewest(byRoot, keep, kept, ({ root }) => root);
  const named = new Set(kept.hashes);
  await keepNewest(head === undefined ? [] : readChanges(reader, head), keep, kept, configurationIn);
  const roots = new Map<string, Root>();
  for (const hash of kept.hashes) {
    const reachable = await reachableFrom(reader, hash).catch((cause: unknown) => {
      // Beyond what an earlier release has kept, a root may be gone, or a part of it.
      if (named.has(hash) || !(cause instanceof PortolanError)) throw cause;
      return undefined;
    });
    if (reachable === undefined) continue;
    for (const blob of reachable) kept.blobs.add(blob);
    roots.set(hash, (await reader.root(hash)).root);
  }
  const held = [head?.pin, head?.canary].flatMap((holds) => holds?.configuration?.sources ?? []);
  return { blobs: kept.blobs, roots, held, oldest };
}

interface Kept {
  readonly blobs: Set<string>;
  /** Of roots. */
  readonly hashes: Set<string>;
}

/**
 * Keeps entries until as many were served.
 *
 * @param what served entries that follow each other and are alike in this count once
 * @returns generation of the oldest entry that stays; 0 when all do
 */
async function keepNewest(
  entries: AsyncIterable<HistoryEntry> | Iterable<HistoryEntry>,
  keep: number,
  { blobs, hashes }: Kept,
  what: (entry: HistoryEntry) => string,
): Promise<number> {
  let oldest = 0;
  let [served, held] = [0, 0];
  let later: string | undefined;
  for await (const entry of entries) {
    const isHeld = entry.held === true;
    const isMove = !isHeld && what(entry) !== later;
    if (isMove && served >= Math.max(keep, 1)) break;
    blobs.add(entry.hash);
    oldest = entry.generation;
    if (isHeld) held += 1;
    else later = what(entry);
    if (isMove) served += 1;
    if (!isHeld || held <= keep) hashes.add(entry.root);
    if (entry.generation === 1) oldest = 0;
  }
  return oldest;
}
