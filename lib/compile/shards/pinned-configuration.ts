import { PortolanError } from "../../base/diagnostic.ts";
import type { OriginObject } from "../../registry/origin/origin.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import type { SourceVersion } from "../../snapshot/root.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { CollectedShard } from "../collected/collected-shard.ts";
import { readSource } from "./read-source.ts";
import { emptySource, isCollected, isHeld, type Shard, type ShardContent } from "./shard.ts";

/**
 * Gives sources the configuration that they had in some versions, and leaves their registry as it is. A source that is not among the
 * versions has no configuration then.
 *
 * @throws PortolanError when one of the versions is not in the store
 */
export type PinnedConfigurations = (
  shards: readonly Shard[],
  held: readonly SourceVersion[],
) => Promise<readonly Shard[]>;

/** So many configurations are remembered: everybody's and a canary's. */
const remembered = 2;

/** A holder that remembers what it read: the same version is the same object. */
export function createPinnedConfigurations(store: ObjectStore): PinnedConfigurations {
  let recent: readonly ReadonlyMap<string, ShardContent>[] = [];
  return async (shards, held) => {
    const versions = new Map(held.map(({ name, version }) => [name, version]));
    const now = new Map<string, ShardContent>();
    const contentOf = async (newest: ShardContent, version: string): Promise<ShardContent> => {
      const { name } = newest;
      if (version === "") return emptySource(name);
      const key = `${version} ${name}`;
      const known =
        recent.find((one) => one.has(key))?.get(key) ?? (await readContent(store, { name, version }, newest));
      now.set(key, known);
      return known;
    };
    const gone = held.filter(({ name }) => shards.every((shard) => shard.name !== name));
    const all: readonly Shard[] = [...shards, ...gone.map(({ name }) => emptySource(name))];
    const holding = await Promise.all(
      all.map(async (shard): Promise<Shard> => {
        const newest = isHeld(shard) ? shard.newest : shard;
        const version = versions.get(newest.name) ?? "";
        if (version === newest.version) return newest;
        const { name, isMeantEmpty } = newest;
        const content = await contentOf(newest, version);
        const meantEmpty = isMeantEmpty === undefined ? {} : { isMeantEmpty };
        return { name, version: newest.version, newest, held: { version, content }, ...meantEmpty };
      }),
    );
    recent = [now, ...recent].slice(0, remembered);
    return holding;
  };
}

/** The versions of sources, with the configuration of others. @param sources in their order */
export function pinnedVersions(
  sources: readonly SourceVersion[],
  held: readonly SourceVersion[],
): readonly CompiledSource[] {
  const versions = new Map(held.map(({ name, version }) => [name, version]));
  const gone = held.filter(({ name }) => sources.every((source) => source.name !== name));
  return [...sources, ...gone.map(({ name }) => ({ name, version: "" }))].map(({ name, version }) => {
    const configuration = versions.get(name) ?? "";
    return configuration === version ? { name, version } : { name, version, configuration };
  });
}

async function readContent(
  store: ObjectStore,
  { name, version }: SourceVersion,
  newest: ShardContent,
): Promise<ShardContent> {
  const found = await readSource(store, name, version);
  if (found === undefined) throw notHere([name]);
  if (!isCollected(found) || !isCollected(newest)) return found;
  // What did not change since is one object, so that what was made of it is found again.
  const sameObjects = (objects: CollectedShard["objects"], of: CollectedShard["kept"]) =>
    new Map(Array.from(objects, ([key, one]) => [key, sameObject(of?.get(key), one)]));
  return {
    ...found,
    objects: sameObjects(found.objects, newest.objects),
    ...(found.kept === undefined ? {} : { kept: sameObjects(found.kept, newest.kept) }),
  };
}

function sameObject(newest: OriginObject | undefined, held: OriginObject): OriginObject {
  const isSame =
    newest !== undefined &&
    newest.version === held.version &&
    (newest.version !== "" || JSON.stringify(newest.object) === JSON.stringify(held.object));
  return isSame ? newest : held;
}

/** A version of a source that is not in the store. A snapshot is imported without its sources, so nobody knows whether they ever were here. */
export class SourceNotKept extends PortolanError {}

export function notHere(sources: readonly string[]): SourceNotKept {
  const held = `what ${sources.length === 1 ? "source" : "sources"} ${sources.join(", ")} held then`;
  return new SourceNotKept(`${held} is not in this store: it was collected, or the version was imported`);
}
