import type { Config } from "../../config/config.ts";
import type { Diagnostic } from "../../config/diagnostic.ts";
import type { ParsedObject } from "../../config/documents/parse.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { defaultMeshConfig } from "../../config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../config/kinds/mesh-networks.ts";
import { noFolderSettings } from "../../config/kinds/stated-endpoints.ts";
import type { ConsulListing } from "../../registry/consul/convert.ts";
import type { OriginAbout, OriginObject } from "../../registry/origin.ts";
import type { CollectedShard } from "./collected-shard.ts";
import { type ReadObject, readCollected } from "./read-collected.ts";

/** What a collected source says, as a folder would. */
export interface LoadedShard {
  /** Id of the cluster whose objects these are; absent where it is none. */
  readonly cluster?: string;
  readonly content: LoadedDirectory;
  /** Services of Consul; absent where it is none. */
  readonly consul?: readonly ConsulListing[];
}

/** Loads one source again and again: each object is read once for each of its forms. */
export type CollectedLoader = (shard: CollectedShard) => LoadedShard;

/** What objects were read as, with what their origin is. */
export type CollectedReads = WeakMap<OriginObject, { readonly about: string; readonly read: ReadObject }>;

/** @param reads shared by loaders of several versions of one source */
export function createCollectedLoader(reads: CollectedReads = new WeakMap()): CollectedLoader {
  let last: { readonly objects: CollectedShard["objects"]; readonly loaded: LoadedShard } | undefined;
  return (shard) => {
    if (last?.objects === shard.objects) return last.loaded;
    const about = JSON.stringify(shard.about);
    const all = Array.from(shard.objects.values(), (from) => {
      const before = reads.get(from);
      if (before?.about === about) return before.read;
      const read = readCollected(shard, from);
      reads.set(from, { about, read });
      return read;
    });
    last = { objects: shard.objects, loaded: { ...beside(shard.about, all), content: joined(all) } };
    return last.loaded;
  };
}

/** What no folder could say. */
function beside(about: OriginAbout, reads: readonly ReadObject[]): Omit<LoadedShard, "content"> {
  switch (about.kind) {
    case "kubernetes":
      return { cluster: about.cluster };
    case "consul":
      return { consul: reads.flatMap(({ consul }) => consul ?? []) };
    case "mcp":
      return {};
  }
}

function joined(reads: readonly ReadObject[]): LoadedDirectory {
  const configs: Config[] = [];
  const objects: ParsedObject[] = [];
  const others: ParsedObject[] = [];
  const diagnostics: Diagnostic[] = [];
  let meshConfig = defaultMeshConfig;
  let meshNetworks = noMeshNetworks;
  for (const read of reads) {
    if (read.config !== undefined) configs.push(read.config);
    if (read.object !== undefined) objects.push(read.object);
    if (read.other !== undefined) others.push(read.other);
    if (read.meshConfig !== undefined) meshConfig = read.meshConfig;
    if (read.meshNetworks !== undefined) meshNetworks = read.meshNetworks;
    diagnostics.push(...read.diagnostics);
  }
  return { configs, objects, others, diagnostics, meshConfig, meshNetworks, clusters: [], settings: noFolderSettings };
}
