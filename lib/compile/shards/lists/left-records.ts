import type { ListedObject, ObjectStore } from "../../../storage/object-store.ts";

/** A record that a server has left in the store for the next compile. */
export type LeftRecord = ListedObject;

export async function recordsIn(store: ObjectStore, prefix: string): Promise<readonly LeftRecord[]> {
  const records: LeftRecord[] = [];
  for await (const record of store.list(prefix)) records.push(record);
  return records;
}

/**
 * The records that count; those that are older are deleted. Nearly always there are none: then nobody need know how late it is.
 *
 * @param maxAgeMs how long a record counts
 * @param now the store's clock as well as it is known
 */
export async function withoutOld(
  store: ObjectStore,
  records: readonly LeftRecord[],
  maxAgeMs: number,
  now: () => number,
): Promise<readonly LeftRecord[]> {
  if (records.length === 0) return [];
  const oldestMs = ((await store.time?.()) ?? now()) - maxAgeMs;
  const isOver = ({ modifiedMs }: LeftRecord): boolean => modifiedMs <= oldestMs;
  for (const record of records) if (isOver(record)) await store.delete(record.key);
  return records.filter((record) => !isOver(record));
}
