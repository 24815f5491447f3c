import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** So many at a time, because their bytes are held until they are gone. */
const batchSize = 16;

/**
 * Deletes objects, batch by batch, until the time is up. A store may carry out a deletion long after it was asked for, and by then a
 * publisher may have taken this collection for dead and may rely on the object. So a batch that ended too late is written again, with
 * the bytes that it had. If nothing needs them, a later collection deletes them. The same is done where the announcement is gone when the
 * batch has ended: a publisher that did not see it may rely on the batch, and finds by itself what earlier batches took.
 *
 * @param isOver whether the time that was announced to publishers has passed
 * @param isAnnounced whether publishers still see what was announced
 * @param signal ends it after the batch under way
 * @returns the keys that were deleted in time, in the order of `keys`
 */
export async function deleteWithin(
  store: ObjectStore,
  keys: readonly string[],
  isOver: () => boolean,
  isAnnounced: () => Promise<boolean>,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  for (let at = 0; at < keys.length; at += batchSize) {
    if (isOver() || signal?.aborted === true) return keys.slice(0, at);
    const batch = keys.slice(at, at + batchSize);
    const before = await inParallel(batch, (key) => store.get(key));
    if (isOver()) return keys.slice(0, at);
    await inParallel(batch, (key) => store.delete(key));
    if ((await isAnnounced()) && !isOver()) continue;
    await inParallel(batch.entries(), async ([index, key]) => {
      const found = before[index];
      if (found?.kind === "found") await store.put(key, found.bytes, { ifNoneMatch: "*" });
    });
    return keys.slice(0, at);
  }
  return keys;
}
