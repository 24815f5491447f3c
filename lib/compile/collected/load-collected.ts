import { type Diagnostic, fileOrigin } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import type { ParsedObject } from "../../config/documents/parse.ts";
import type { ClosedObject } from "../../config/fail-closed/closed-object.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { defaultMeshConfig } from "../../config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../config/kinds/mesh-networks.ts";
import { noFolderSettings } from "../../config/kinds/stated-endpoints.ts";
import type { ReadOptions } from "../../config/read-config.ts";
import type { ConsulListing } from "../../registry/consul/convert.ts";
import type { OriginAbout, OriginObject } from "../../registry/origin/origin.ts";
import { boundedReading } from "../bounded-diagnostics.ts";
import type { CollectedShard } from "./collected-shard.ts";
import { isLastSettings, lastSettingsIn, type SettingsField, settingsKey } from "./last-settings.ts";
import { type CollectedReadOptions, type ReadObject, readCollected, readGoneSettings } from "./read-collected.ts";

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

/** All that an object is read with. */
interface ReadWith {
  /** What its origin is, as JSON. */
  readonly about: string;
  readonly inlineSymmetricKeys: CollectedOptions["inlineSymmetricKeys"];
  /** The last valid form, where it is not the object itself. */
  readonly kept: OriginObject | undefined;
  /** The last valid settings. */
  readonly settings: string;
}

/** What objects were read as, and with what. */
export type CollectedReads = WeakMap<OriginObject, ReadWith & { readonly read: ReadObject }>;

/** What was loaded last. */
interface Loading {
  readonly objects: CollectedShard["objects"];
  readonly kept: CollectedShard["kept"];
  readonly inlineSymmetricKeys: CollectedOptions["inlineSymmetricKeys"];
}

/** @param reads shared by loaders of several versions of one source */
export function createCollectedLoader(reads: CollectedReads = new WeakMap()): CollectedLoader {
  let last: (Loading & { readonly loaded: LoadedShard }) | undefined;
  return (shard, { inlineSymmetricKeys } = {}) => {
    const { objects, kept } = shard;
    if (last?.objects === objects && last.kept === kept && last.inlineSymmetricKeys === inlineSymmetricKeys)
      return last.loaded;
    const about = JSON.stringify(shard.about);
    const lastSettings = (field: SettingsField) => lastSettingsIn(objects, field);
    const settings = [lastSettings("mesh"), lastSettings("meshNetworks")].join("\n");
    const options = { ...(inlineSymmetricKeys === undefined ? {} : { inlineSymmetricKeys }), lastSettings };
    const all: ReadObject[] = [];
    for (const [key, from] of objects) {
      const isLast = isLastSettings(key);
      if (isLast && objects.has(settingsKey)) continue;
      const now = { about, inlineSymmetricKeys, kept: kept?.get(key), settings };
      const before = reads.get(from);
      const known =
        before !== undefined && isReadAlike(from, before, now)
          ? before
          : {
              ...now,
              read: isLast ? readGoneSettings(shard, from) : readWithKept(shard, from, now.kept, options),
            };
      reads.set(from, known);
      all.push(known.read);
    }
    const content = boundedReading(shard.name, joined(all));
    last = { objects, kept, inlineSymmetricKeys, loaded: { ...beside(shard.about, all), content } };
    return last.loaded;
  };
}

/** Whether an object comes to the same. Settings with errors are read over those that were valid last. */
const isReadAlike = ({ object }: OriginObject, before: ReadWith, now: ReadWith): boolean =>
  before.about === now.about &&
  before.inlineSymmetricKeys === now.inlineSymmetricKeys &&
  before.kept === now.kept &&
  (object.kind !== "ConfigMap" || before.settings === now.settings);

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
  return { ...read, config, diagnostics: [...read.diagnostics, keptWarning(shard, read, kept)] };
}

function keptWarning({ about }: CollectedShard, { diagnostics }: ReadObject, { version }: OriginObject): Diagnostic {
  const name = about.kind === "kubernetes" ? "resourceVersion" : "version";
  return {
    code: "last-valid-served",
    severity: "warning",
    origin: diagnostics[0]?.origin ?? fileOrigin(""),
    path: [],
    message: `its last valid form${version === "" ? "" : ` (${name} ${version})`} is served in place of what is refused`,
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
