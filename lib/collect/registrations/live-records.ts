import { recordsIn } from "../../compile/shards/lists/left-records.ts";
import { type RegisteredRecord, readRecord, registeredMs, registeredPrefix } from "../../snapshot/nodes/registered.ts";
import type { ListedObject, ObjectStore } from "../../storage/object-store.ts";

/**
 * Reads the records of machines that have registered themselves; one that was read before is read again where its object is another.
 *
 * @param today milliseconds since the epoch
 * @returns by key, without those that are deleted or have not been written for too long
 */
export function liveRecords(
  store: ObjectStore,
  today: () => number,
): () => Promise<ReadonlyMap<string, RegisteredRecord>> {
  let known = new Map<string, { readonly version: string; readonly record: RegisteredRecord | undefined }>();
  const versionOf = ({ modifiedMs, sizeBytes, md5 = "" }: ListedObject) => `${modifiedMs} ${sizeBytes} ${md5}`;
  return async () => {
    const listed = await recordsIn(store, registeredPrefix);
    if (listed.length === 0) return new Map();
    const oldestMs = ((await store.time?.()) ?? today()) - registeredMs;
    const next: typeof known = new Map();
    for (const one of listed) {
      if (one.modifiedMs <= oldestMs) continue;
      const version = versionOf(one);
      const before = known.get(one.key);
      if (before?.version === version) next.set(one.key, before);
      else {
        const found = await store.get(one.key);
        const record = found.kind === "found" ? readRecord(found.bytes) : undefined;
        next.set(one.key, { version, record });
      }
    }
    known = next;
    return new Map(
      [...next].flatMap(([key, { record }]) =>
        record === undefined || record.isGone === true ? [] : [[key, record] as const],
      ),
    );
  };
}
