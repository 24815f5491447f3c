import type { CompiledSource } from "../snapshot/compiled.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { RootObjects } from "../xds/explain/root-object.ts";
import { objectsOfShards, shardsOfRoot } from "./explain/root-objects.ts";
import { SourceNotKept } from "./shards/held-configuration.ts";

/** Object, as `keyText` writes it, to the place where it stands: `catalog.yaml:106`. */
export type Places = ReadonlyMap<string, string>;

/**
 * Where the objects of a root stood when it was compiled. A snapshot holds keys only, so that moving a line changes no
 * version; the sources hold the text.
 *
 * @param sources of the root, the primary first
 * @returns nothing for sources whose text is not kept in this store
 */
export async function placesOf(store: ObjectStore, sources: readonly CompiledSource[]): Promise<Places> {
  const shards = await Promise.all(
    sources.map(async (source) => (await shardsOfRoot(store, [source]).catch(nothingKept))[0]),
  );
  return placesIn(objectsOfShards(shards));
}

function nothingKept(cause: unknown): readonly [] {
  if (cause instanceof SourceNotKept) return [];
  throw cause;
}

/** The same of objects that are read already. */
export const placesIn = ({ all, get, placeOf }: RootObjects): Places =>
  new Map(all.map((object) => [object.key, placeOf(get(object.key) ?? object, [])]));
