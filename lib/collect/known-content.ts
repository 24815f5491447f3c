import { entryText, splitEntry } from "../compile/collected/shard-head.ts";
import { canonicalJson } from "../config/canonical-json.ts";
import type { OriginChange, OriginObject, OriginSink, PackedObject } from "../registry/origin.ts";

/** What an origin was heard to hold, and how that differs from what lies in the store. */
export interface KnownContent extends OriginSink {
  /** Every part was told as a whole at least once. */
  isWhole(): boolean;
  /** Parts that cannot be read at the moment, with the reason. */
  failures(): ReadonlyMap<string, string>;
  /** How many objects there are. */
  size(): number;
  /** From now on differences are told from these entries. To be called when everything is whole. */
  compareWith(stored: ReadonlyMap<string, string>): void;
  /** Differences since the last call, as writes to a tree: key → entry, undefined where it goes. */
  takeChanges(): ReadonlyMap<string, string | undefined>;
  /** Gives back what could not be written. */
  putBack(changes: ReadonlyMap<string, string | undefined>): void;
}

/** A text that was put together keeps all of its pieces in memory, and one that was cut out the whole. */
const inOnePiece = (text: string): string => Buffer.from(text).toString();

/** @param told is called after whatever an origin tells */
export function createKnownContent(parts: readonly string[], told: () => void): KnownContent {
  const keysOf = new Map<string, Set<string>>();
  const entries = new Map<string, string>();
  const dirty = new Set<string>();
  const failures = new Map<string, string>();

  const put = (told: OriginObject | PackedObject): void => {
    const { key, version } = told;
    const json = "json" in told ? told.json : canonicalJson(told.object);
    const before = entries.get(key);
    // A new version of the same is no change, and stays what it was.
    if (before !== undefined && splitEntry(before).json === json) return;
    entries.set(key, inOnePiece(entryText(version, json)));
    dirty.add(key);
  };
  const remove = (key: string): void => {
    if (entries.delete(key)) dirty.add(key);
  };
  const changesOf = (keys: Iterable<string>) => new Map([...keys].map((key) => [key, entries.get(key)] as const));

  return {
    whole(part, objects) {
      const keys = new Set(objects.map(({ key }) => key));
      for (const key of keysOf.get(part) ?? []) if (!keys.has(key)) remove(key);
      for (const object of objects) put(object);
      keysOf.set(part, keys);
      failures.delete(part);
      told();
    },
    changed(part, changes: readonly OriginChange[]) {
      const keys = keysOf.get(part) ?? new Set();
      keysOf.set(part, keys);
      for (const { key, object } of changes) {
        if (object === undefined) {
          keys.delete(key);
          remove(key);
        } else {
          keys.add(key);
          put(object);
        }
      }
      told();
    },
    failed(part, reason) {
      failures.set(part, reason);
      told();
    },
    followed(part) {
      if (failures.delete(part)) told();
    },
    isWhole: () => parts.every((part) => keysOf.has(part)),
    failures: () => failures,
    size: () => entries.size,
    compareWith(stored) {
      dirty.clear();
      for (const [key, entry] of entries) {
        const there = stored.get(key);
        if (there === undefined || splitEntry(there).json !== splitEntry(entry).json) dirty.add(key);
        else entries.set(key, there);
      }
      for (const key of stored.keys()) if (!entries.has(key)) dirty.add(key);
    },
    takeChanges() {
      const changes = changesOf(dirty);
      dirty.clear();
      return changes;
    },
    putBack(changes) {
      for (const key of changes.keys()) dirty.add(key);
    },
  };
}
