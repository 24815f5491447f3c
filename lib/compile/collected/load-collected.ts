import type { Config } from "../../config/config.ts";
import { type Diagnostic, fileOrigin } from "../../config/diagnostic.ts";
import type { ParsedObject } from "../../config/documents/parse.ts";
import type { ClosedObject } from "../../config/fail-closed/closed-object.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { defaultMeshConfig } from "../../config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../config/kinds/mesh-networks.ts";
import { noFolderSettings } from "../../config/kinds/stated-endpoints.ts";
import type { ReadOptions } from "../../config/read-config.ts";
import type { ConsulListing } from "../../registry/consul/convert.ts";
import type { OriginAbout, OriginObject } from "../../registry/origin.ts";
import type { CollectedShard } from "./collected-shard.ts";
import { isLastSettings, lastSettingsIn, type SettingsField } from "./last-settings.ts";
import { type CollectedReadOptions, type ReadObject, readCollected } from "./read-collected.ts";

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
  /** The last valid form, where it is not the object itself. */
  readonly kept: OriginObject | undefined;
  /** The last valid settings that it was read with. */
  readonly settings: string;
  readonly read: ReadObject;
}

export function createCollectedLoader(): CollectedLoader {
  let known: ReadonlyMap<string, KnownObject> = new Map();
  let last: (Pick<CollectedShard, "objects" | "kept"> & { readonly loaded: LoadedShard }) | undefined;
  let allowed: CollectedOptions["inlineSymmetricKeys"];
  return (shard, options = {}) => {
    if (allowed !== options.inlineSymmetricKeys) {
      [known, last, allowed] = [new Map(), undefined, options.inlineSymmetricKeys];
    }
    if (last?.objects === shard.objects && last.kept === shard.kept) return last.loaded;
    const read = new Map<string, KnownObject>();
    const lastSettings = (field: SettingsField) => lastSettingsIn(shard.objects, field);
    const settings = [lastSettings("mesh"), lastSettings("meshNetworks")].join("\n");
    for (const [key, from] of shard.objects) {
      if (isLastSettings(key)) continue;
      const before = known.get(key);
      const kept = shard.kept?.get(key);
      // Settings with errors are read over those that were valid last.
      const isSame =
        before?.from === from &&
        before.kept === kept &&
        (from.object.kind !== "ConfigMap" || before.settings === settings);
      const reading = { ...options, lastSettings };
      read.set(key, isSame ? before : { from, kept, settings, read: readWithKept(shard, from, kept, reading) });
    }
    known = read;
    const reads = [...read.values()].map((one) => one.read);
    last = {
      objects: shard.objects,
      ...(shard.kept === undefined ? {} : { kept: shard.kept }),
      loaded: { ...beside(shard.about, reads), content: joined(reads) },
    };
    return last.loaded;
  };
}

/** An object that is refused is what it was in its last valid form, where there is one. */
function readWithKept(
  shard: CollectedShard,
  from: OriginObject,
  kept: OriginObject | undefined,
  options: CollectedReadOptions,
): ReadObject {
  const read = readCollected(shard, from, options);
  if (kept === undefined || !read.isRefused) return read;
  const { config } = readCollected(shard, kept, options);
  if (config === undefined) return read;
  return { ...read, config, diagnostics: [...read.diagnostics, keptWarning(read, kept)] };
}

function keptWarning({ diagnostics }: ReadObject, { version }: OriginObject): Diagnostic {
  return {
    code: "last-valid-served",
    severity: "warning",
    origin: diagnostics[0]?.origin ?? fileOrigin(""),
    path: [],
    message: `its last valid form${version === "" ? "" : `, of version ${version},`} is served in place of what is refused`,
    hint: "correct the object, or delete it",
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
  const closed: ClosedObject[] = [];
  const diagnostics: Diagnostic[] = [];
  let meshConfig = defaultMeshConfig;
  let meshNetworks = noMeshNetworks;
  const unusableSettings = reads.flatMap((read) => read.unusableSettings ?? []);
  for (const read of reads) {
    if (read.config !== undefined) configs.push(read.config);
    if (read.object !== undefined) objects.push(read.object);
    if (read.other !== undefined) others.push(read.other);
    if (read.closed !== undefined) closed.push(read.closed);
    if (read.meshConfig !== undefined) meshConfig = read.meshConfig;
    if (read.meshNetworks !== undefined) meshNetworks = read.meshNetworks;
    diagnostics.push(...read.diagnostics);
  }
  return {
    configs,
    objects,
    others,
    closed,
    diagnostics,
    meshConfig,
    meshNetworks,
    clusters: [],
    settings: noFolderSettings,
    ...(unusableSettings.length === 0 ? {} : { unusableSettings }),
  };
}
