import type { Config } from "../../config/config.ts";
import type { Diagnostic } from "../../config/diagnostic.ts";
import type { ParsedObject } from "../../config/documents/parse.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { defaultMeshConfig } from "../../config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../config/kinds/mesh-networks.ts";
import { noFolderSettings } from "../../config/kinds/stated-endpoints.ts";
import type { ReadOptions } from "../../config/read-config.ts";
import type { ConsulListing } from "../../registry/consul/convert.ts";
import type { OriginAbout, OriginObject } from "../../registry/origin.ts";
import type { CollectedShard } from "./collected-shard.ts";
import { isLastSettings, lastSettingsIn, type SettingsField } from "./last-settings.ts";
import { type ReadObject, readCollected } from "./read-collected.ts";

/** What a collected source says, as a folder would. */
export interface LoadedShard {
  /** Id of the cluster whose objects these are; absent where it is none. */
  readonly cluster?: string;
  readonly content: LoadedDirectory;
  /** Services of Consul; absent where it is none. */
  readonly consul?: readonly ConsulListing[];
}

/** How the objects of a collected source are read: as the settings of the mesh's folders have it. */
export type CollectedOptions = Pick<ReadOptions, "inlineSymmetricKeys">;

/** Loads one source again and again: each object is read once for each of its forms. */
export type CollectedLoader = (shard: CollectedShard, options?: CollectedOptions) => LoadedShard;

interface KnownObject {
  readonly from: OriginObject;
  /** The last valid settings that it was read with. */
  readonly settings: string;
  readonly read: ReadObject;
}

export function createCollectedLoader(): CollectedLoader {
  let known: ReadonlyMap<string, KnownObject> = new Map();
  let last: { readonly objects: CollectedShard["objects"]; readonly loaded: LoadedShard } | undefined;
  let allowed: CollectedOptions["inlineSymmetricKeys"];
  return (shard, options = {}) => {
    if (allowed !== options.inlineSymmetricKeys) {
      [known, last, allowed] = [new Map(), undefined, options.inlineSymmetricKeys];
    }
    if (last?.objects === shard.objects) return last.loaded;
    const read = new Map<string, KnownObject>();
    const lastSettings = (field: SettingsField) => lastSettingsIn(shard.objects, field);
    const settings = [lastSettings("mesh"), lastSettings("meshNetworks")].join("\n");
    for (const [key, from] of shard.objects) {
      if (isLastSettings(key)) continue;
      const before = known.get(key);
      // Settings with errors are read over those that were valid last.
      const isSame = before?.from === from && (from.object.kind !== "ConfigMap" || before.settings === settings);
      read.set(
        key,
        isSame ? before : { from, settings, read: readCollected(shard, from, { ...options, lastSettings }) },
      );
    }
    known = read;
    const reads = [...read.values()].map((one) => one.read);
    last = { objects: shard.objects, loaded: { ...beside(shard.about, reads), content: joined(reads) } };
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
  const unusableSettings = reads.flatMap((read) => read.unusableSettings ?? []);
  for (const read of reads) {
    if (read.config !== undefined) configs.push(read.config);
    if (read.object !== undefined) objects.push(read.object);
    if (read.other !== undefined) others.push(read.other);
    if (read.meshConfig !== undefined) meshConfig = read.meshConfig;
    if (read.meshNetworks !== undefined) meshNetworks = read.meshNetworks;
    diagnostics.push(...read.diagnostics);
  }
  return {
    configs,
    objects,
    others,
    diagnostics,
    meshConfig,
    meshNetworks,
    clusters: [],
    settings: noFolderSettings,
    ...(unusableSettings.length === 0 ? {} : { unusableSettings }),
  };
}
