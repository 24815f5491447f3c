import { sha256 } from "../../config/canonical-json.ts";
import type { SourceVersion } from "../../snapshot/root.ts";
import type { Collectable } from "../../snapshot/upkeep/collect-garbage.ts";
import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";
import { nodesNamedBy } from "../collected/collected-shard.ts";
import { readShardHead } from "../collected/shard-head.ts";
import { openList } from "./lists/open-list.ts";
import { sourceNames } from "./source-names.ts";
import { isSourcePart } from "./source-parts.ts";
import { readText } from "./source-shard.ts";

/**
 * The texts of sources: those stay that a source holds now, and those that a root was compiled from which stays. The history of
 * what was applied is no garbage. What is no part of a source is.
 */
export const collectedSources: Collectable = {
  prefix: "sources/",
  async stays({ roots, held }, store) {
    const ofRoots = [...roots.values()].flatMap(({ sources }) => sources);
    const configurations = ofRoots.flatMap(({ name, configuration }) =>
      configuration === undefined ? [] : [{ name, version: configuration }],
    );
    return namedBySources(store, [...ofRoots, ...configurations, ...held]);
  },
};

/** Whether something names an object below `sources/`. @param compiled versions that do beside those of now */
export async function namedBySources(
  store: ObjectStore,
  compiled: readonly SourceVersion[],
): Promise<(key: string) => boolean> {
  const parts = new Map<string, ReadonlySet<string> | undefined>();
  for (const name of await sourceNames(store)) {
    const versions = new Set(compiled.flatMap((source) => (source.name === name ? [source.version] : [])));
    parts.set(encodeKeyPart(name), await namedBy(store, name, versions));
  }
  return (key) => {
    const [, source = "", ...part] = key.split("/");
    const [kind = "", name = ""] = part;
    // Nothing reads it, and nothing of Portolan's has written it.
    if (part.length > 0 && kind !== "ledger" && !isSourcePart(part.join("/"))) return false;
    const named = parts.get(source);
    // A source whose lists cannot be read may name anything.
    return named === undefined || !collectedKinds.has(kind) || named.has(name);
  };
}

const collectedKinds: ReadonlySet<string> = new Set(["files", "nodes", "versions"]);

/** Names of texts, nodes and versions that a source needs; undefined when something cannot be read that may name more. */
async function namedBy(
  store: ObjectStore,
  name: string,
  versions: ReadonlySet<string>,
): Promise<ReadonlySet<string> | undefined> {
  const prefix = `sources/${encodeKeyPart(name)}`;
  const list = await textAt(store, `${prefix}/list`);
  const texts = [list, await textAt(store, `${prefix}/head`)];
  for (const version of versions) texts.push(await textAt(store, `${prefix}/versions/${version}`));
  // The list that is in force is a version too, which the next root will name.
  const names = new Set(list === undefined ? versions : [...versions, sha256(list)]);
  const roots = new Set<string>();
  for (const text of texts) {
    if (text === undefined) continue;
    const open = await openList(text, (hash) => readText(store, name, hash));
    const root = readShardHead(text)?.root;
    if (open?.lost !== undefined || (open === undefined && root === undefined)) return undefined;
    const { list: entries, runs = [] } = open ?? {};
    for (const { hash } of [...runs, ...(entries?.files ?? []), ...(entries?.kept ?? [])]) names.add(hash);
    if (root !== undefined) roots.add(root);
  }
  const nodes = await nodesNamedBy(store, name, roots);
  return nodes === undefined ? undefined : new Set([...names, ...nodes]);
}

async function textAt(store: ObjectStore, key: string): Promise<string | undefined> {
  const found = await store.get(key);
  return found.kind === "found" ? new TextDecoder().decode(found.bytes) : undefined;
}
