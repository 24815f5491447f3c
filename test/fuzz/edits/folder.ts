import { byCodePoint } from "../../../lib/base/diagnostic.ts";
import type { SourceFile } from "../../../lib/config/folder/directory.ts";
import { groupVersion } from "../../../lib/config/values/group-version.ts";
import type { Manifest } from "../objects/vocabulary.ts";

/** What an operator's folder holds, as values. */
export interface Folder {
  /** `mesh.yaml` and `networks.yaml`; undefined where there is no such file. */
  readonly meshConfig: object | undefined;
  readonly networks: object | undefined;
  /** Objects of one file are in the order in which they stand there. */
  readonly objects: readonly Placed[];
}

export interface Placed {
  /** `clusters/<id>.yaml` holds those of a further cluster. */
  readonly file: string;
  readonly manifest: Manifest;
}

/** The folder's files, by their paths. */
export function filesOf({ meshConfig, networks, objects }: Folder): readonly SourceFile[] {
  const texts = new Map<string, string[]>();
  for (const { file, manifest } of objects) {
    const documents = texts.get(file) ?? [];
    texts.set(file, documents);
    documents.push(JSON.stringify(manifest));
  }
  const settings = (file: string, content: object | undefined): readonly SourceFile[] =>
    content === undefined ? [] : [{ file, text: `${JSON.stringify(content)}\n` }];
  return [
    ...[...texts].map(([file, documents]) => ({ file, text: `${documents.join("\n---\n")}\n` })),
    ...settings("mesh.yaml", meshConfig),
    ...settings("networks.yaml", networks),
  ].sort((a, b) => byCodePoint(a.file, b.file));
}

const clusterFile = /^clusters\//;

/** What tells an object from all others of a folder; objects of further clusters have keys of their own. */
export function placeKey({ file, manifest }: Placed): string {
  const { apiVersion, kind, metadata } = manifest;
  const cluster = clusterFile.test(file) ? file : "";
  return [cluster, groupVersion(apiVersion).group, kind, metadata.namespace, metadata.name].join("|");
}

export const isRemote = ({ file }: Placed): boolean => clusterFile.test(file);

/** The folder with objects put in the place of those with their keys, or at the end; of two with one key the later one counts. */
export function withObjects(folder: Folder, objects: readonly Placed[]): Folder {
  const byKey = new Map(folder.objects.map((placed) => [placeKey(placed), placed]));
  for (const placed of objects) byKey.set(placeKey(placed), placed);
  return { ...folder, objects: [...byKey.values()] };
}

export function withoutObjects(folder: Folder, keys: ReadonlySet<string>): Folder {
  return { ...folder, objects: folder.objects.filter((placed) => !keys.has(placeKey(placed))) };
}
