import type { CompiledSource } from "../snapshot/compiled.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { RootObjects } from "../xds/explain/root-object.ts";
import { objectsOfShards, shardsOfRoot } from "./explain/root-objects.ts";
import { SourceNotKept } from "./shards/pinned-configuration.ts";

/** Object key, as `keyText` writes it, to its source location: `catalog.yaml:106`. */
export type SourceLocations = ReadonlyMap<string, string>;

/**
 * Source locations of a root's objects when it was compiled. A snapshot has keys only, so that moving a line changes no version; the
 * sources have the text.
 *
 * @param sources of the root, the primary first
 * @returns nothing for sources whose text is not kept in this store
 */
export async function locationsOf(store: ObjectStore, sources: readonly CompiledSource[]): Promise<SourceLocations> {
  const shards = await Promise.all(
    sources.map(async (source) => (await shardsOfRoot(store, [source]).catch(nothingKept))[0]),
  );
  return locationsIn(objectsOfShards(shards));
}

function nothingKept(cause: unknown): readonly [] {
  if (cause instanceof SourceNotKept) return [];
  throw cause;
}

/** The same for objects that are read already. */
export const locationsIn = ({ all, get, placeOf }: RootObjects): SourceLocations =>
  new Map(all.map((object) => [object.key, placeOf(get(object.key) ?? object, [])]));
