import type { ObjectStore } from "../storage/object-store.ts";

/** Copies of HEAD lie here under their generations, for when HEAD itself is lost. */
export const headCopyPrefix = "heads/";

/** Sorted by code point, keys are sorted by generation. */
const headCopyKey = (generation: number): string => `${headCopyPrefix}${String(generation).padStart(10, "0")}`;

/**
 * Keeps a copy of a HEAD that has just come into force. Only whoever has moved HEAD writes it, so a copy proves that its HEAD was
 * one. HEAD has moved whatever becomes of the copy: a store that fails now fails nobody's publish.
 */
export async function keepHeadCopy(
  store: ObjectStore,
  generation: number,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  await store.put(headCopyKey(generation), bytes).catch(() => {});
}

/** The keys of all copies, the newest first. */
export async function headCopies(store: ObjectStore): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(headCopyPrefix)) keys.push(key);
  return keys.reverse();
}
