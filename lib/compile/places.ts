import { keyText } from "../config/diagnostic.ts";
import { readFiles, type SourceFile } from "../config/directory.ts";
import type { CompiledSource } from "../snapshot/compiled.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { readShard, textsOfShard } from "./source-shard.ts";

/** Object, as `keyText` writes it, to the place where it stands: `catalog.yaml:106`. */
export type Places = ReadonlyMap<string, string>;

function placesIn(files: readonly SourceFile[], under = ""): Places {
  const { configs, objects } = readFiles(files, { under });
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
  const shards = await Promise.all(sources.map(({ name, version }) => readShard(store, name, version)));
  return new Map(
    shards.flatMap((shard, i) =>
      shard === undefined ? [] : [...placesIn(textsOfShard(shard).files, i === 0 ? "" : `${shard.name}/`)],
    ),
  );
}
