import { limits } from "../../limits/limits.ts";
import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";

/** What an object takes at least, however little is in it: a block of a disk. */
const leastBytes = 4_096;
/** How long a count is good for: other processes write, and garbage is collected. */
const goodForMs = 300_000;
/** How long before one that is too much is looked at again. */
const refusedForMs = 10_000;

interface Count {
  readonly sinceMs: number;
  bytes: number;
}

/** Whether so many bytes more may be stored for a source. @returns why not */
export type Quota = (source: string, bytes: number) => Promise<string | undefined>;

/**
 * Bounds what lies in the store for each source, so that whoever writes one cannot fill the store of all. What is there is listed now and
 * then, and what this process writes is added: several processes may together go beyond the bound by what they write until they list again.
 */
export function createQuota(store: ObjectStore, now: () => number, maxBytes: number = limits.sourceStoredBytes): Quota {
  const counts = new Map<string, Promise<Count>>();
  const countOf = (source: string, atMost: number): Promise<Count> => {
    const known = counts.get(source) ?? count(store, source, now);
    const fresh = known.then((one) => (now() - one.sinceMs > atMost ? count(store, source, now) : one));
    counts.set(source, fresh);
    fresh.catch(() => counts.delete(source));
    return fresh;
  };
  return async (source, bytes) => {
    const more = Math.max(bytes, leastBytes);
    let stored = await countOf(source, goodForMs);
    if (stored.bytes + more > maxBytes) stored = await countOf(source, refusedForMs);
    if (stored.bytes + more > maxBytes)
      return `source ${source} has ${stored.bytes} bytes in the store, and may have ${maxBytes}; nothing was written: run \`portolan gc\`, or split the source`;
    stored.bytes += more;
    return undefined;
  };
}

async function count(store: ObjectStore, source: string, now: () => number): Promise<Count> {
  const sinceMs = now();
  let bytes = 0;
  for await (const { sizeBytes } of store.list(`sources/${encodeKeyPart(source)}/`))
    bytes += Math.max(sizeBytes, leastBytes);
  return { sinceMs, bytes };
}
