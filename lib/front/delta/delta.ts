import { byCodePoint } from "../../config/diagnostic.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import type { ResourceType, ShapeName } from "../../snapshot/resource-type.ts";
import type { SegmentRef } from "../../snapshot/root.ts";
import type { LoadedRoot, SnapshotReader } from "../../snapshot/snapshot-reader.ts";
import type { Subscription } from "./delta-request.ts";

/** What a reader has, and wants to have besides. */
export interface DeltaQuestion extends Subscription {
  readonly classId: string;
  readonly shape: ShapeName;
  readonly type: ResourceType;
}

export interface DeltaAnswer {
  /** Of the whole type, for the class. */
  readonly version: string;
  /** What it lacks or has in another version, in order of names. */
  readonly changed: readonly ChangedResource[];
  /** Names that it has or wants and that do not exist, sorted. */
  readonly removed: readonly string[];
}

export interface ChangedResource {
  readonly name: string;
  readonly version: string;
  /** The segment that holds it. */
  readonly segment: SegmentRef;
}

/** Compares what a reader has with what its class should have. @returns undefined when the root has no such class */
export async function deltaFor(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  { classId, shape, type, names, known }: DeltaQuestion,
): Promise<DeltaAnswer | undefined> {
  const proxyClass = loaded.classes.get(classId);
  if (proxyClass === undefined) return undefined;
  const tree = await reader.tree(loaded.root, type, proxyClass[shape][type]);
  const wanted = names === undefined ? undefined : new Set([...names, ...known.keys()]);
  const changed: ChangedResource[] = [];
  const there = new Set<string>();
  for (const segment of tree.segments) {
    for (const { name, version: hash } of (await reader.entries(segment)).values()) {
      if (wanted !== undefined && !wanted.has(name)) continue;
      there.add(name);
      const version = wireVersion(hash);
      if (known.get(name) !== version) changed.push({ name, version, segment });
    }
  }
  const removed = [...(wanted ?? known.keys())].filter((name) => !there.has(name)).sort(byCodePoint);
  return { version: wireVersion(tree.version), changed, removed };
}
