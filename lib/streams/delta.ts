import { byCodePoint } from "../base/diagnostic.ts";
import { wireVersion } from "../snapshot/parts-version.ts";
import type { LoadedTree } from "../snapshot/reader/loaded.ts";
import type { ChangedResource, Differences } from "./differences.ts";
import { findResource } from "./select-resources.ts";
import type { TreeReader } from "./tree-reader.ts";

/** What a reader wants and has. */
export interface Subscription {
  /** Names wanted, each once; undefined for all there are. */
  readonly names: readonly string[] | undefined;
  /** Versions of what it has, by name. Empty with a version that it holds: all of that, as far as it is wanted. */
  readonly known: ReadonlyMap<string, string>;
}

/** What a reader is to be told of a type. */
export interface DeltaAnswer {
  /** What it lacks or has in another version, in order of names. */
  readonly changed: readonly ChangedResource[];
  /** Names that it has or wants and that do not exist, sorted. */
  readonly removed: readonly string[];
}

/** Compares what a reader says it has, resource by resource, with what it should have. Who wants some names has only theirs looked up. */
export async function deltaByNames(
  reader: TreeReader,
  tree: LoadedTree,
  { names, known }: Subscription,
): Promise<DeltaAnswer> {
  const wanted = names && [...new Set([...names, ...known.keys()])].sort(byCodePoint);
  const there = wanted === undefined ? await resourcesOf(reader, tree) : await resourcesNamed(reader, tree, wanted);
  const exists = new Set(there.map(({ name }) => name));
  return {
    changed: there.filter(({ name, version }) => known.get(name) !== version),
    removed: [...(wanted ?? known.keys())].filter((name) => !exists.has(name)).sort(byCodePoint),
  };
}

async function resourcesOf(reader: TreeReader, { segments }: LoadedTree): Promise<readonly ChangedResource[]> {
  const resources: ChangedResource[] = [];
  for (const segment of segments) {
    for (const { name, version } of (await reader.entries(segment)).values())
      resources.push({ name, version: wireVersion(version), segment });
  }
  return resources;
}

async function resourcesNamed(
  reader: TreeReader,
  tree: LoadedTree,
  names: readonly string[],
): Promise<readonly ChangedResource[]> {
  const found = await Promise.all(names.map((name) => findResource(reader, tree, name)));
  return found.flat().map(({ version, ...part }) => ({ ...part, version: wireVersion(version) }));
}

/**
 * Compares the tree that a reader has with the one that it should have: segments that are in both are not read.
 *
 * @param names it has, and wants, no others; undefined for all there are
 * @throws PortolanError when the store has the older tree no more
 */
export async function deltaBetween(
  differences: Differences,
  older: LoadedTree,
  newer: LoadedTree,
  names: readonly string[] | undefined,
): Promise<DeltaAnswer> {
  const { changed, gone } = await differences.between(older, newer);
  const wanted = names && new Set(names);
  const isWanted = ({ name }: { readonly name: string }) => wanted?.has(name) ?? true;
  return { changed: changed.filter(isWanted), removed: gone.filter(isWanted).map(({ name }) => name) };
}
