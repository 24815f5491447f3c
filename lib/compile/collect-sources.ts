import type { Collectable } from "../snapshot/upkeep/collect-garbage.ts";
import { encodeKeyPart, type ObjectStore } from "../storage/object-store.ts";
import { sourceNames } from "./read-sources.ts";
import { readList, type ShardList } from "./shard-list.ts";

/**
 * The texts of sources: those stay that a source holds now, and those that a root was compiled from which stays. The history of
 * what was applied is no garbage.
 */
export const collectedSources: Collectable = {
  prefix: "sources/",
  async stays({ roots }, store) {
    const compiled = [...roots.values()].flatMap(({ sources }) => sources);
    const parts = new Map<string, ReadonlySet<string> | undefined>();
    for (const name of await sourceNames(store)) {
      const versions = new Set(compiled.flatMap((source) => (source.name === name ? [source.version] : [])));
      parts.set(encodeKeyPart(name), await namedBy(store, `sources/${encodeKeyPart(name)}`, versions));
    }
    return (key) => {
      const [, source = "", kind = "", name = ""] = key.split("/");
      const named = parts.get(source);
      // A source whose lists cannot be read may name anything.
      return named === undefined || (kind !== "files" && kind !== "versions") || named.has(name);
    };
  },
};

/** Names of texts and versions that some lists of a source name; undefined when one of them cannot be read. */
async function namedBy(
  store: ObjectStore,
  prefix: string,
  versions: ReadonlySet<string>,
): Promise<ReadonlySet<string> | undefined> {
  const lists = [await listAt(store, `${prefix}/list`)];
  for (const version of versions) lists.push(await listAt(store, `${prefix}/versions/${version}`));
  if (lists.includes("unreadable")) return undefined;
  const hashes = lists.flatMap((list) =>
    typeof list === "object" ? [...list.files, ...list.kept].map(({ hash }) => hash) : [],
  );
  return new Set([...hashes, ...versions]);
}

async function listAt(store: ObjectStore, key: string): Promise<ShardList | "absent" | "unreadable"> {
  const found = await store.get(key);
  if (found.kind !== "found") return "absent";
  return readList(new TextDecoder().decode(found.bytes)) ?? "unreadable";
}
