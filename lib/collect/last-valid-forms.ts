import { kindText } from "../base/diagnostic.ts";
import { fieldsOf } from "../base/untyped.ts";
import { isKeptKey, keptKey } from "../compile/collected/collected-shard.ts";
import { readCollected } from "../compile/collected/read-collected.ts";
import { kindSchemas } from "../config/kind-registry.ts";
import type { OriginAbout } from "../registry/origin/origin.ts";
import { splitEntry } from "../registry/origin/packed-object.ts";

/** Entries of a source's tree by key; undefined: it goes. */
type Changes = ReadonlyMap<string, string | undefined>;

/** Keeps the last valid forms of configuration that its origin has made invalid, beside what the origin holds. */
export interface LastValidForms {
  /** Starts from the forms that lie in the store. */
  load(keys: Iterable<string>): void;
  /**
   * The changes with what they change of the forms that are kept: one comes when an object becomes invalid, and goes when the object is
   * valid again or gone.
   *
   * @param before the entry of a key as it lies in the store
   */
  with(changes: Changes, before: (key: string) => Promise<string | undefined>): Promise<Changes>;
  /** The changes were written. */
  written(changes: Changes): void;
}

/** Kinds of configuration, as keys of objects begin with them. */
const configurationKinds: ReadonlySet<string> = new Set(kindSchemas.map(kindText));

const isConfiguration = (key: string): boolean => configurationKinds.has(key.slice(0, key.indexOf("/")));

export function createLastValidForms(source: string, about: OriginAbout): LastValidForms {
  let kept = new Set<string>();
  const isRefused = (key: string, entry: string): boolean => {
    const { version, json } = splitEntry(entry);
    const object = { key, version, object: fieldsOf(JSON.parse(json)) };
    return readCollected({ about, name: source }, object).isRefused === true;
  };
  return {
    load(keys) {
      kept = new Set(keys);
    },
    async with(changes, before) {
      if (about.kind === "consul") return changes;
      const all = new Map(changes);
      for (const [key, entry] of changes) {
        if (!isConfiguration(key)) continue;
        const own = keptKey(key);
        if (entry === undefined || !isRefused(key, entry)) {
          if (kept.has(own)) all.set(own, undefined);
          continue;
        }
        const earlier = kept.has(own) ? undefined : await before(key);
        if (earlier !== undefined && !isRefused(key, earlier)) all.set(own, earlier);
      }
      return all;
    },
    written(changes) {
      for (const [key, entry] of changes) {
        if (!isKeptKey(key)) continue;
        if (entry === undefined) kept.delete(key);
        else kept.add(key);
      }
    },
  };
}
