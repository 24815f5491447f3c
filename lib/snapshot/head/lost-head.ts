import { blobFolder, blobKey, blobOfKey, hashOf, headKey } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import { listHashed } from "../../storage/list-hashed.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Publication } from "../root.ts";
import { headCopyPrefix } from "./head-copy.ts";
import type { HistoryEntry } from "./history/history.ts";

/** @throws PortolanError where there is no HEAD, and has been one: whoever began anew would throw away what it led to */
export async function refuseLostHead(store: ObjectStore): Promise<void> {
  // In this order: somebody else may publish for the first time meanwhile.
  if (!(await hadHead(store)) || (await store.get(headKey)).kind !== "absent") return;
  throw new PortolanError("HEAD is gone from a store that was published into; `portolan recover` rebuilds it");
}

/** Whether a store has, or had, a HEAD. */
async function hadHead(store: ObjectStore): Promise<boolean> {
  for await (const _copy of store.list(headCopyPrefix)) return true;
  // The first entry of a history may be that of a publisher who was killed before its HEAD; the second follows a HEAD.
  return (await writtenPublications(store)).some(({ generation }) => generation > 1);
}

/** Entries are smaller; one with a very long reason is not looked for. */
const maxEntryBytes = 4_096;

/** Every entry of a history that lies in a store, those among them that never came into force; in no order. */
export async function writtenPublications(store: ObjectStore): Promise<readonly HistoryEntry[]> {
  const hashes: string[] = [];
  await listHashed(store, blobFolder, ({ key, sizeBytes }) => {
    const hash = blobOfKey(key);
    if (hash !== undefined && sizeBytes <= maxEntryBytes) hashes.push(hash);
  });
  const entries = await inParallel(hashes, async (hash) => {
    const found = await store.get(blobKey(hash));
    if (found.kind !== "found" || hashOf(found.bytes) !== hash) return [];
    const entry = readEntry(new TextDecoder().decode(found.bytes));
    return entry === undefined ? [] : [{ ...entry, hash }];
  });
  return entries.flat();
}

/** Blobs have no type; an entry is told by how `moveHead` begins it. */
function readEntry(text: string): Publication | undefined {
  return /^\{"generation":\d+,"root":"[0-9a-f]*","parent":"/.test(text) ? JSON.parse(text) : undefined;
}
