import type { Config } from "../../config/config.ts";
import { type Diagnostic, fileOrigin } from "../../config/diagnostic.ts";
import type { ParsedObject } from "../../config/documents/parse.ts";
import type { ClosedObject } from "../../config/fail-closed/closed-object.ts";
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

interface ReadForm {
  readonly from: OriginObject;
  /** The last valid form, where it is not the object itself. */
  readonly kept: OriginObject | undefined;
  readonly read: ReadObject;
}

export function createCollectedLoader(): CollectedLoader {
  let known: ReadonlyMap<string, ReadForm> = new Map();
  let last: (Pick<CollectedShard, "objects" | "kept"> & { readonly loaded: LoadedShard }) | undefined;
  return (shard) => {
    if (last?.objects === shard.objects && last.kept === shard.kept) return last.loaded;
    const read = new Map<string, ReadForm>();
    for (const [key, from] of shard.objects) {
      const before = known.get(key);
      const kept = shard.kept?.get(key);
      const isSame = before?.from === from && before.kept === kept;
      read.set(key, isSame ? before : { from, kept, read: readWithKept(shard, from, kept) });
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
function readWithKept(shard: CollectedShard, from: OriginObject, kept: OriginObject | undefined): ReadObject {
  const read = readCollected(shard, from);
  if (kept === undefined || !read.isRefused) return read;
  const { config } = readCollected(shard, kept);
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
  };
}
