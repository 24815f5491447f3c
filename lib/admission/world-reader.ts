import { causeText } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { createShardsReader } from "../compile/read-shards.ts";
import { createSourcesReader } from "../compile/shards/read-sources.ts";
import type { WorldOptions } from "../compile/world/world-of.ts";
import { consulHost } from "../registry/consul/convert.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { AdmissionWorld } from "./world.ts";

/** Gives the newest world. @throws WorldUnread */
export type WorldReader = () => Promise<AdmissionWorld>;

/** The sources cannot be read now. */
export class WorldUnread extends PortolanError {}

export interface WorldReaderOptions {
  readonly store: ObjectStore;
  /** Sources in order, the primary first. */
  readonly sources: readonly string[];
  readonly options: WorldOptions;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now: () => number;
}

/** A world is looked for again when it is so old. */
const maxAgeMs = 5_000;

/** A reader that remembers what it read: only what changed is read again, and requests at one time share a reading. */
export function createWorldReader({ store, sources, options, now }: WorldReaderOptions): WorldReader {
  const readSources = createSourcesReader(store);
  const readShards = createShardsReader({ ...options, sources });
  let last: { readonly reading: Promise<AdmissionWorld>; readonly atMs: number } | undefined;
  let world: AdmissionWorld | undefined;
  const read = async (): Promise<AdmissionWorld> => {
    const { content, consul, clusterId } = readShards(await readSources(sources));
    // An analysis is remembered by the world that it is of.
    const before = world?.loaded;
    const isSame = before !== undefined && before.configs === content.configs && before.objects === content.objects;
    if (world === undefined || !isSame || before.meshConfig !== content.meshConfig) {
      const clusterIds = [clusterId, ...content.clusters.map(({ id }) => id)];
      world = { loaded: content, clusterIds, otherHosts: consul.map(consulHost) };
    }
    return world;
  };
  return () => {
    if (last !== undefined && now() - last.atMs < maxAgeMs) return last.reading;
    const reading = read().catch((cause: unknown) => {
      last = undefined;
      throw new WorldUnread(`the mesh was not looked at: its sources cannot be read: ${causeText(cause)}`, [], cause);
    });
    last = { reading, atMs: now() };
    return reading;
  };
}
