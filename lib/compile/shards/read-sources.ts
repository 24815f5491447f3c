import type { CompiledSource } from "../../snapshot/compiled.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type CollectedReader, createCollectedReader } from "../collected/collected-shard.ts";
import { createPinnedConfigurations, notHere } from "./pinned-configuration.ts";
import { usualPrimary } from "./primary-source.ts";
import { type ReadShard, readShardAgain } from "./read-shard.ts";
import { emptySource, type Shard, type ShardContent } from "./shard.ts";
import { sourceNames } from "./source-names.ts";
import { refuseDisplaced } from "./source-parts.ts";
import type { TextsByHash } from "./source-shard.ts";
import { type Keeping, versionInstead } from "./unreadable-source.ts";

/**
 * Reads every source that was ever filled; with versions only those, as they were then, each with the configuration that it names.
 *
 * @param keeping what to do with a source that cannot be read; absent: the reading fails
 * @throws PortolanError when one of the versions is not in the store; UnreadableSource as `keeping` lets it
 */
export type SourcesReader = (
  order: readonly string[],
  versions?: readonly CompiledSource[],
  keeping?: Keeping,
) => Promise<readonly Shard[]>;

/**
 * The names of all sources that there may be, in the order in which they are compiled: those given, `main`, the others by name.
 */
export const orderedSources = async (store: ObjectStore, order: readonly string[]): Promise<readonly string[]> => [
  ...new Set([...order, usualPrimary, ...(await sourceNames(store))]),
];

/**
 * A reader that remembers what it read, so that the next time only what changed is read.
 *
 * @param written texts that lie in the store, from whoever puts them there in this process; these need not be read at all
 * @returns a function of the sources that come first, in their order; the others follow by name, `main` before them
 */
export function createSourcesReader(store: ObjectStore, written: TextsByHash = new Map()): SourcesReader {
  let before: ReadonlyMap<string, ReadShard> = new Map();
  const holdConfiguration = createPinnedConfigurations(store);
  let collected: ReadonlyMap<string, CollectedReader> = new Map();
  let namesBefore: readonly string[] = [];
  return async (order, versions, keeping) => {
    const wanted = new Map(versions?.map(({ name, version }) => [name, version]));
    // Another reading may end while this one waits: each goes on from what it began with.
    const last = before;
    const now = new Map<string, ReadShard>();
    const collectors = new Map<string, CollectedReader>();
    const lastCollectors = collected;
    const readCollected = async (name: string, version: string | undefined): Promise<ShardContent | undefined> => {
      const read = lastCollectors.get(name) ?? createCollectedReader(store, name);
      const shard = await read(version);
      if (shard !== undefined) collectors.set(name, read);
      else if (version === undefined) await refuseDisplaced(store, name);
      return shard;
    };
    const readAt = async (name: string, version: string | undefined): Promise<ShardContent | undefined> => {
      if (version === "") return emptySource(name);
      const read = await readShardAgain(store, name, version, { written, before: last.get(name) });
      if (read === undefined) return readCollected(name, version);
      now.set(name, read);
      return read.shard;
    };
    const readEither = (name: string): Promise<ShardContent | undefined> => {
      const reading = readAt(name, wanted.get(name));
      if (keeping === undefined) return reading;
      return reading.catch(async (cause: unknown) => {
        const version = await versionInstead(name, cause, keeping);
        if (version === undefined) return undefined;
        const shard = await readAt(name, version);
        if (shard === undefined) throw cause;
        return shard;
      });
    };
    const readings = new Map<string, Promise<ShardContent | undefined>>();
    const readOne = (name: string): Promise<ShardContent | undefined> => {
      const reading = readings.get(name) ?? readEither(name);
      readings.set(name, reading);
      return reading;
    };
    // Those that were there before are read while their names are looked up. One that is there no more fails nobody.
    const expected = new Set(versions === undefined ? [...order, usualPrimary, ...namesBefore] : wanted.keys());
    for (const name of expected) readOne(name).catch(() => {});
    const names = await orderedSources(store, order);
    if (versions === undefined) namesBefore = names;
    const found = await Promise.all(names.filter((name) => versions === undefined || wanted.has(name)).map(readOne));
    const shards = found.filter((shard) => shard !== undefined);
    for (const { name } of shards) wanted.delete(name);
    if (wanted.size > 0) throw notHere([...wanted.keys()]);
    before = now;
    collected = collectors;
    const held = versions?.filter(({ configuration }) => configuration !== undefined) ?? [];
    if (held.length === 0) return shards;
    return holdConfiguration(
      shards,
      shards.map(({ name, version }) => {
        const { configuration = version } = held.find((one) => one.name === name) ?? {};
        return { name, version: configuration };
      }),
    );
  };
}
