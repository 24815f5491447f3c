import type { OriginChange, OriginObject, OriginSink, PackedObject } from "../registry/origin/origin.ts";
import { packed, splitEntry } from "../registry/origin/packed-object.ts";

/** What an origin was heard to hold, and how that differs from what lies in the store. */
export interface KnownContent extends OriginSink {
  /** Every part was told as a whole at least once. */
  isWhole(): boolean;
  /** Parts that cannot be read at the moment, with the reason. */
  failures(): ReadonlyMap<string, string>;
  /** How many objects there are. */
  size(): number;
  /** Characters of all of them. */
  length(): number;
  /**
   * From now on differences are told from what lies in the store. To be called when everything is whole. What the store has of a part
   * that the origin has not is held as if it had been told before.
   *
   * @param load says of which of these entries the store has others, or none (undefined), and what it has besides
   * @param isOwn asked then: whether what it has is this origin's
   */
  compareWith(
    load: (entries: ReadonlyMap<string, string>) => Promise<ReadonlyMap<string, string | undefined>>,
    isOwn: () => boolean,
  ): Promise<void>;
  /** Differences since the last call, as writes to a tree: key → entry, undefined where it goes. */
  takeChanges(): ReadonlyMap<string, string | undefined>;
  /** Gives back what could not be written. */
  putBack(changes: ReadonlyMap<string, string | undefined>): void;
}

export interface KnownContentOptions {
  readonly parts: readonly string[];
  /** Characters of all objects; more are not taken. */
  readonly most: number;
  /** Called after whatever an origin tells. */
  readonly told: () => void;
  /** Whether what a part held goes when the origin has no such part any more; false when absent. */
  readonly dropsAbsent?: boolean;
}

const entryOf = (told: OriginObject | PackedObject): string => ("entry" in told ? told : packed(told)).entry;

export function createKnownContent({ parts, most, told, dropsAbsent = false }: KnownContentOptions): KnownContent {
  const keysOf = new Map<string, Set<string>>();
  const entries = new Map<string, string>();
  const dirty = new Set<string>();
  const failures = new Map<string, string>();
  /** Parts that the origin has not, with the reason. */
  const absent = new Map<string, string>();
  let length = 0;
  /** What the store has is known. */
  let isCompared = false;

  const lengthOf = (key: string): number => entries.get(key)?.length ?? 0;
  const put = (key: string, entry: string): void => {
    const before = entries.get(key);
    // A new version of the same is no change, and stays what it was.
    if (before !== undefined && splitEntry(before).json === splitEntry(entry).json) return;
    length += entry.length - (before?.length ?? 0);
    entries.set(key, entry);
    dirty.add(key);
  };
  const remove = (key: string): void => {
    length -= lengthOf(key);
    if (entries.delete(key)) dirty.add(key);
  };
  /** Whether there is room for a part to become so much longer; says at which object there is none. */
  const takes = (part: string, more: number, key: string): boolean => {
    if (length + more <= most || more <= 0) return true;
    const mib = (characters: number) => `${(characters / 2 ** 20).toFixed(1)} MiB`;
    failures.set(
      part,
      `with ${key} there would be ${mib(length + more)} of objects, and ${mib(most)} are taken at most; ` +
        "--max-size takes more",
    );
    told();
    return false;
  };
  /** Objects of a kind that is not served for a while may be policies: without a word about them, they stay. */
  const tellAbsent = (part: string, reason: string): void => {
    const count = keysOf.get(part)?.size ?? 0;
    if (count === 0) return;
    const what = count === 1 ? "its 1 object is" : `its ${count} objects are`;
    failures.set(
      part,
      `${reason}; ${what} still served as last read, until the kind is there again, or a start with --allow-empty`,
    );
  };
  /** Holds what lies in the store of a part that is absent. @returns false for what is of another part */
  const hold = (key: string, entry: string): boolean => {
    const part = key.slice(0, key.indexOf("/"));
    if (!absent.has(part) || dropsAbsent) return false;
    keysOf.set(part, (keysOf.get(part) ?? new Set()).add(key));
    length += entry.length;
    entries.set(key, entry);
    return true;
  };
  const changesOf = (keys: Iterable<string>) => new Map([...keys].map((key) => [key, entries.get(key)] as const));

  const content: KnownContent = {
    whole(part, objects) {
      const known = keysOf.get(part) ?? new Set<string>();
      const next = new Map<string, string>();
      let more = 0;
      for (const key of known) more -= lengthOf(key);
      for (const object of objects) {
        const entry = entryOf(object);
        more += entry.length - (next.get(object.key)?.length ?? 0);
        next.set(object.key, entry);
        if (!takes(part, more, object.key)) return false;
      }
      for (const key of known) if (!next.has(key)) remove(key);
      for (const [key, entry] of next) put(key, entry);
      keysOf.set(part, new Set(next.keys()));
      failures.delete(part);
      absent.delete(part);
      told();
      return true;
    },
    changed(part, changes: readonly OriginChange[]) {
      const keys = keysOf.get(part) ?? new Set();
      keysOf.set(part, keys);
      for (const { key, object } of changes) {
        if (object === undefined) {
          keys.delete(key);
          remove(key);
          continue;
        }
        const entry = entryOf(object);
        if (!takes(part, entry.length - lengthOf(key), key)) return false;
        keys.add(key);
        put(key, entry);
      }
      told();
      return true;
    },
    absent(part, reason) {
      const isHeld = (keysOf.get(part)?.size ?? 0) > 0;
      if (!isHeld || dropsAbsent) content.whole(part, []);
      absent.set(part, reason);
      tellAbsent(part, reason);
      told();
      return (isHeld || !isCompared) && !dropsAbsent;
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
    length: () => length,
    async compareWith(load, isOwn) {
      dirty.clear();
      for (const [key, there] of await load(entries)) {
        const entry = entries.get(key);
        const isUntold = there !== undefined && entry === undefined && !dirty.has(key);
        if (isUntold && isOwn() && hold(key, there)) continue;
        // What came meanwhile is dirty already.
        const isSame = there !== undefined && entry !== undefined && !dirty.has(key);
        if (isSame && splitEntry(there).json === splitEntry(entry).json) {
          length += there.length - entry.length;
          entries.set(key, there);
        } else dirty.add(key);
      }
      isCompared = true;
      for (const [part, reason] of absent) tellAbsent(part, reason);
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
  return content;
}
