import { type Diagnostic, errorsOf, fileOrigin } from "../../base/diagnostic.ts";
import type { ToolInput } from "../documents/foreign-document.ts";
import { type ParsedObject, parseStream } from "../documents/parse.ts";
import { closeUnreadable } from "../fail-closed/close-unreadable.ts";
import type { ClosedObject } from "../fail-closed/closed-object.ts";
import { defaultMeshConfig, type MeshConfig } from "../kinds/mesh-config.ts";
import { type MeshNetworks, noMeshNetworks } from "../kinds/mesh-networks.ts";
import { type FolderSettings, noFolderSettings } from "../kinds/stated-endpoints.ts";
import type { ReadOptions } from "../read-config.ts";
import { readMeshConfig, readMeshNetworks } from "../read-mesh-config.ts";
import { objectsInSettings } from "./objects-in-settings.ts";
import { readFolderSettings } from "./read-folder-settings.ts";
import { isConfig, type SortedObjects, sortObjects } from "./sort-objects.ts";
import { toolInputOf, toolInputsOf } from "./tool-inputs.ts";

/** Everything that a folder says. */
export interface LoadedDirectory extends SortedObjects {
  readonly meshConfig: MeshConfig;
  readonly meshNetworks: MeshNetworks;
  /** Kubernetes objects of further clusters, from `clusters/<id>.yaml`, by id; the folder's own objects are the primary's. */
  readonly clusters: readonly LoadedCluster[];
  /** What `portolan.yaml` says. */
  readonly settings: FolderSettings;
  /** Where settings of the mesh, or of the folder, have errors, and none are known that were valid before: nothing may be published of them. Absent: nowhere. */
  readonly unusableSettings?: readonly Diagnostic[];
}

export interface LoadedCluster {
  readonly id: string;
  readonly objects: readonly ParsedObject[];
}

export const meshFile = "mesh.yaml";
export const networksFile = "networks.yaml";
export const settingsFile = "portolan.yaml";
/** What the files with a name of their own hold. */
const settingsFiles: ReadonlyMap<string, string> = new Map([
  [meshFile, "the mesh's settings"],
  [networksFile, "the mesh's networks"],
  [settingsFile, "the folder's settings"],
]);
export const clusterFile = /^clusters\/([^/]+)\.(?:ya?ml|json)$/i;

export interface SourceFile {
  /** Path below the source's root, with `/`. */
  readonly file: string;
  /** Of one that cannot be read what it held before, if anybody knows, else "". */
  readonly text: string;
  /** Why it cannot be read, "it is a link to nothing"; absent: it was. */
  readonly problem?: string;
  /** Put before its name in origins: where the source's root lies; absent: nothing. */
  readonly under?: string;
}

export interface DirectoryOptions extends Omit<ReadOptions, "sourceOf"> {
  /** Put before a file's name in origins. */
  readonly under?: string;
  /** What other files say of a file, by its path; absent: as those that are read together say. */
  readonly inputOf?: (path: string) => ToolInput | undefined;
}

/**
 * What the files of a folder say. `mesh.yaml`, `networks.yaml`, `portolan.yaml` and `clusters/<id>.yaml` at the top have the
 * meaning that their names say.
 */
export function readFiles(
  files: readonly SourceFile[],
  { under = "", inputOf, ...options }: DirectoryOptions = {},
): LoadedDirectory {
  const { skipRules = false } = options;
  const inputs = inputOf === undefined ? toolInputsOf(files) : undefined;
  const diagnostics: Diagnostic[] = [];
  // A file may have more of them than a call takes arguments.
  const tell = (found: readonly Diagnostic[]) => {
    for (const one of found) diagnostics.push(one);
  };
  const parsed: ParsedObject[] = [];
  const sources = new Map<ParsedObject, ReturnType<typeof parseStream>["sourceOf"]>();
  const clusters: LoadedCluster[] = [];
  const unreadable: ClosedObject[] = [];
  let meshConfig = defaultMeshConfig;
  let meshNetworks = noMeshNetworks;
  let settings = noFolderSettings;
  const unusableSettings: Diagnostic[] = [];
  for (const { file, text, problem, under: root = "" } of files) {
    const place = under + root + file;
    if (problem !== undefined) {
      const unreadable = unreadableFile(place, problem);
      diagnostics.push(unreadable);
      // What it held before is not known either.
      if (isSettings(file) && text === "") unusableSettings.push(unreadable);
    }
    const holds = settingsFiles.get(file);
    if (holds !== undefined) {
      const found = objectsInSettings({ file, place, text, holds }, options);
      for (const one of found.closed) unreadable.push(one);
      tell(found.diagnostics);
      if (found.diagnostics.length > 0) {
        for (const one of found.diagnostics) unusableSettings.push(one);
        continue;
      }
    }
    if (file === meshFile) {
      const read = readMeshConfig(text, place, undefined, true);
      meshConfig = read.value;
      tell(read.diagnostics);
      if (!read.isUsable) unusableSettings.push(...errorsOf(read.diagnostics));
      continue;
    }
    if (file === networksFile) {
      const read = readMeshNetworks(text, place, undefined, true);
      meshNetworks = read.value;
      tell(read.diagnostics);
      if (!read.isUsable) unusableSettings.push(...errorsOf(read.diagnostics));
      continue;
    }
    if (file === settingsFile) {
      const read = readFolderSettings(text, place);
      settings = read.value;
      tell(read.diagnostics);
      for (const one of errorsOf(read.diagnostics)) unusableSettings.push(one);
      continue;
    }
    const path = root + file;
    const input = inputs === undefined ? inputOf?.(path) : toolInputOf(inputs, path);
    const stream = parseStream(text, { file: place, skipRules, ...(input === undefined ? {} : { input }) });
    tell(stream.diagnostics);
    const cluster = clusterFile.exec(file)?.[1];
    if (cluster !== undefined) {
      const found = sortObjects(stream.value.filter(isClusters), { ...options, sourceOf: stream.sourceOf });
      clusters.push({ id: cluster, objects: found.objects });
      const elsewhere = stream.value.filter((object) => !isClusters(object)).map(notHere);
      tell([...found.diagnostics, ...elsewhere]);
      continue;
    }
    for (const other of stream.others) unreadable.push(...closeUnreadable(other, place, options));
    for (const object of stream.value) {
      parsed.push(object);
      sources.set(object, stream.sourceOf);
    }
  }
  const { acceptUnknownTypes = settings.acceptUnknownTypes ?? false } = options;
  const sorted = sortObjects(parsed, {
    ...options,
    acceptUnknownTypes,
    sourceOf: (object) => sources.get(object)?.(object),
  });
  return {
    ...sorted,
    meshConfig,
    meshNetworks,
    clusters,
    settings,
    ...(unusableSettings.length === 0 ? {} : { unusableSettings }),
    closed: unreadable.length === 0 ? sorted.closed : [...sorted.closed, ...unreadable],
    diagnostics: [...diagnostics, ...sorted.diagnostics],
  };
}

/** Whether a file has a meaning of its own as settings: in its absence the defaults count. */
export const isSettings = (file: string): boolean => settingsFiles.has(file);

/** Whether an object is looked at in a further cluster: configuration is the primary's. */
const isClusters = (object: ParsedObject): boolean => !isConfig(object);

function notHere({ origin }: ParsedObject): Diagnostic {
  return {
    code: "no-effect",
    severity: "warning",
    origin,
    path: [],
    message: "is configuration, which counts in the first cluster only",
    hint: "move it into a file that is not under clusters/",
  };
}

/** @param problem of a `SourceFile` */
export function unreadableFile(file: string, problem: string): Diagnostic {
  return {
    code: "unreadable-file",
    severity: "error",
    origin: fileOrigin(file),
    path: [],
    message: `cannot be read: ${problem}`,
    hint: "correct or remove it; all other files were read",
  };
}
