import { keyText } from "../config/diagnostic.ts";
import type { LoadedDirectory } from "../config/folder/directory.ts";
import type { CompiledSource } from "../snapshot/compiled.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { createCollectedReader } from "./collected/collected-shard.ts";
import { createCollectedLoader } from "./collected/load-collected.ts";
import { contentOfShard, readShard } from "./shards/source-shard.ts";

/** Object, as `keyText` writes it, to the place where it stands: `catalog.yaml:106`. */
export type Places = ReadonlyMap<string, string>;

function placesOfAll({ configs, objects }: Pick<LoadedDirectory, "configs" | "objects">): Places {
  return new Map(
    [...configs, ...objects].map(({ origin: { key, file, line } }) => [
      keyText(key),
      line > 0 ? `${file}:${line}` : file,
    ]),
  );
}

/**
 * Where the objects of a root stood when it was compiled. A snapshot holds keys only, so that moving a line changes no
 * version; the sources hold the text.
 *
 * @param sources of the root, the primary first
 * @returns nothing for sources whose text is not kept in this store
 */
export async function placesOf(store: ObjectStore, sources: readonly CompiledSource[]): Promise<Places> {
  const places = await Promise.all(
    sources.map(async ({ name, version }, i): Promise<Places> => {
      const shard = await readShard(store, name, version);
      if (shard !== undefined) return placesOfAll(contentOfShard(shard, i === 0 ? "" : `${shard.name}/`));
      const collected = await createCollectedReader(store, name)(version);
      return collected === undefined ? new Map() : placesOfAll(createCollectedLoader()(collected).content);
    }),
  );
  return new Map(places.flatMap((one) => [...one]));
}
