import { sha256 } from "../../config/canonical-json.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { readHeadOf } from "../collected/collected-shard.ts";
import { orderedSources } from "../shards/read-sources.ts";
import { readList } from "../shards/shard-list.ts";
import { listKey } from "../shards/source-shard.ts";

/**
 * Which versions the sources are at, in the order in which they are compiled. Of each source its list or head is read, and nothing of
 * what it holds.
 *
 * @throws PortolanError where one is nothing that anybody has written
 */
export async function sourceVersions(store: ObjectStore, order: readonly string[]): Promise<readonly CompiledSource[]> {
  const names = await orderedSources(store, order);
  const found = await Promise.all(
    names.map(async (name): Promise<readonly CompiledSource[]> => {
      const list = await store.get(listKey(name));
      if (list.kind !== "found") return versionIn(name, (await readHeadOf(store, name))?.text);
      const text = new TextDecoder().decode(list.bytes);
      if (readList(text) === undefined) throw new PortolanError(`source ${name} is no list of files`);
      return versionIn(name, text);
    }),
  );
  return found.flat();
}

const versionIn = (name: string, text: string | undefined): readonly CompiledSource[] =>
  text === undefined ? [] : [{ name, version: sha256(text) }];

/** About how many bytes the sources of a store are, with what they were before: what is kept of them is listed, not read. */
export async function sourceBytes(store: ObjectStore): Promise<number> {
  let bytes = 0;
  for await (const { key, sizeBytes } of store.list("sources/"))
    if (/^sources\/[^/]+\/(?:files|nodes)\//.test(key)) bytes += sizeBytes;
  return bytes;
}
