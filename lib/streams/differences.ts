import { wireVersion } from "../snapshot/parts-version.ts";
import type { LoadedTree } from "../snapshot/reader/loaded.ts";
import type { SegmentRef } from "../snapshot/root.ts";
import { createLoadCache } from "../snapshot/worlds/load-cache.ts";
import type { TreeReader } from "./tree-reader.ts";

/** What tells one tree from another, in order of names. */
export interface Difference {
  readonly changed: readonly ChangedResource[];
  readonly gone: readonly GoneResource[];
}

export interface ChangedResource {
  readonly name: string;
  readonly version: string;
  /** The segment that holds it. */
  readonly segment: SegmentRef;
}

export interface GoneResource {
  readonly name: string;
  /** The segment that held it; undefined for what is known by its name alone. */
  readonly segment: SegmentRef | undefined;
}

/** Differences of trees. Thousands of readers have the same tree and are to have the same next one: each is worked out once. */
export interface Differences {
  /** @throws PortolanError when the store has the older tree no more */
  between(older: LoadedTree, newer: LoadedTree): Promise<Difference>;
}

const none: Difference = { changed: [], gone: [] };
const bytesPerEntry = 100;

/** @param maxBytes of what is kept */
export function createDifferences(reader: TreeReader, maxBytes = 8 * 1024 * 1024): Differences {
  const cache = createLoadCache<readonly [LoadedTree, LoadedTree], Difference>({
    nameOf: ([older, newer]) => `${older.version} ${newer.version}`,
    maxBytes,
    load: ([older, newer]) => difference(reader, older, newer),
    sizeOf: ({ changed, gone }) => bytesPerEntry * (1 + changed.length + gone.length),
  });
  return {
    between: async (older, newer) => (older.version === newer.version ? none : cache.get([older, newer])),
  };
}

/** Segments that both have are not read. */
async function difference(reader: TreeReader, older: LoadedTree, newer: LoadedTree): Promise<Difference> {
  const before = await resourcesBeside(reader, older, newer);
  const after = await resourcesBeside(reader, newer, older);
  return {
    changed: [...after.values()].filter(({ name, version }) => before.get(name)?.version !== version),
    gone: [...before.values()].filter(({ name }) => !after.has(name)).map(({ name, segment }) => ({ name, segment })),
  };
}

async function resourcesBeside(reader: TreeReader, tree: LoadedTree, other: LoadedTree) {
  const shared = new Set(other.segments.map(({ hash }) => hash));
  const resources = new Map<string, ChangedResource>();
  for (const segment of tree.segments) {
    if (shared.has(segment.hash)) continue;
    for (const { name, version } of (await reader.entries(segment)).values())
      resources.set(name, { name, version: wireVersion(version), segment });
  }
  return resources;
}
