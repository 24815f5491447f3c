import type { Diagnostic } from "./diagnostic.ts";
import { defaultMeshConfig, type MeshConfig } from "./kinds/mesh-config.ts";
import { type MeshNetworks, noMeshNetworks } from "./kinds/mesh-networks.ts";
import { type ParsedObject, parseStream } from "./parse.ts";
import type { ReadOptions } from "./read-config.ts";
import { readMeshConfig, readMeshNetworks } from "./read-mesh-config.ts";
import { isSecret, secretLeftOut, withoutValues } from "./secret-objects.ts";
import { type SortedObjects, sortObjects } from "./sort-objects.ts";

/** Everything that a folder says. */
export interface LoadedDirectory extends SortedObjects {
  readonly meshConfig: MeshConfig;
  readonly meshNetworks: MeshNetworks;
  /** Kubernetes objects of further clusters, from `clusters/<id>.yaml`, by id; the folder's own objects are the primary's. */
  readonly clusters: readonly LoadedCluster[];
}

export interface LoadedCluster {
  readonly id: string;
  readonly objects: readonly ParsedObject[];
}

const meshFile = "mesh.yaml";
const networksFile = "networks.yaml";
const clusterFile = /^clusters\/([^/]+)\.ya?ml$/;

export interface SourceFile {
  /** Path below the source's root, with `/`. */
  readonly file: string;
  readonly text: string;
}

export interface DirectoryOptions extends Omit<ReadOptions, "sourceOf"> {
  /** Put before a file's name in origins. */
  readonly under?: string;
}

/**
 * What the files of a folder say. `mesh.yaml`, `networks.yaml` and `clusters/<id>.yaml` at the top have the meaning that their
 * names say.
 */
export function readFiles(
  files: readonly SourceFile[],
  { under = "", ...options }: DirectoryOptions = {},
): LoadedDirectory {
  const diagnostics: Diagnostic[] = [];
  const parsed: ParsedObject[] = [];
  const sources = new Map<ParsedObject, ReturnType<typeof parseStream>["sourceOf"]>();
  const clusters: LoadedCluster[] = [];
  let meshConfig = defaultMeshConfig;
  let meshNetworks = noMeshNetworks;
  for (const { file, text } of files) {
    if (file === meshFile) {
      const read = readMeshConfig(text, under + file);
      meshConfig = read.value;
      diagnostics.push(...read.diagnostics);
      continue;
    }
    if (file === networksFile) {
      const read = readMeshNetworks(text, under + file);
      meshNetworks = read.value;
      diagnostics.push(...read.diagnostics);
      continue;
    }
    const stream = parseStream(text, { file: under + file });
    diagnostics.push(...stream.diagnostics);
    const cluster = clusterFile.exec(file)?.[1];
    if (cluster !== undefined) {
      clusters.push({ id: cluster, objects: stream.value.map(withoutValues) });
      diagnostics.push(...stream.value.filter(isSecret).map(secretLeftOut));
      continue;
    }
    for (const object of stream.value) {
      parsed.push(object);
      sources.set(object, stream.sourceOf);
    }
  }
  const sorted = sortObjects(parsed, { ...options, sourceOf: (object) => sources.get(object)?.(object) });
  return { ...sorted, meshConfig, meshNetworks, clusters, diagnostics: [...diagnostics, ...sorted.diagnostics] };
}
