import { sha256 } from "../../config/canonical-json.ts";
import { type ByteCache, createByteCache } from "../../limits/byte-cache.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { collectedKeys } from "../collected/shard-head.ts";
import { checkHead, type SourceChange } from "../shards/check-source.ts";
import { type SourceBounds, sourceBounds } from "../shards/source-bounds.ts";

/** A version of a collected source that this process has checked. */
interface Checked {
  readonly version: string;
  /** It holds no more bytes than these. */
  readonly mostBytes: number;
}

const checkedIn = new WeakMap<ObjectStore, ByteCache<Checked>>();
/** For some thousand sources. What is forgotten is listed again. */
const cacheBytes = 1024 * 1024;

/**
 * Checks a collected source, of which what differs from before is read. That alone does not show how much it holds: its nodes are
 * listed once, and what each version adds is added from then on. Where that comes to more than a source may hold, all of it is read.
 *
 * @throws UnreadableSource that says what is wrong
 */
export async function checkCollected(
  store: ObjectStore,
  change: SourceChange,
  bounds: SourceBounds = sourceBounds,
): Promise<void> {
  const { name, text, before } = change;
  const cache = checkedIn.get(store) ?? createByteCache<Checked>(cacheBytes);
  checkedIn.set(store, cache);
  const version = sha256(text);
  const known = cache.get(name);
  const keep = (mostBytes: number) => cache.set(name, { version, mostBytes }, 400 + 4 * name.length);
  if (before !== undefined) {
    const isKnown = known?.version === version || known?.version === sha256(before);
    const earlierBytes = isKnown ? known.mostBytes : await listedBytes(store, name);
    if (earlierBytes <= bounds.maxBytes) {
      const addedBytes = await checkHead(store, change, bounds);
      const mostBytes = known?.version === version ? earlierBytes : earlierBytes + addedBytes;
      if (mostBytes <= bounds.maxBytes) return keep(mostBytes);
    }
  }
  keep(await checkHead(store, { name, text }, bounds));
}

/** Of all nodes in the store: those of the versions before are among them. */
async function listedBytes(store: ObjectStore, name: string): Promise<number> {
  let bytes = 0;
  for await (const { sizeBytes } of store.list(collectedKeys.node(name, ""))) bytes += sizeBytes;
  return bytes;
}
