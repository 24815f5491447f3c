import { hashOf } from "../base/blob.ts";
import { wireVersion } from "../snapshot/parts-version.ts";
import type { LoadedRoot, LoadedTree } from "../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../snapshot/reader/snapshot-reader.ts";
import { isWildcard, type ResourceType, type ShapeName } from "../snapshot/resource-type.ts";
import type { SegmentRef } from "../snapshot/root.ts";

/** Who asks for what. */
export interface ResourceQuestion {
  readonly classId: string;
  readonly shape: ShapeName;
  readonly type: ResourceType;
  /** Empty for the types that come whole. */
  readonly names: readonly string[];
}

/** What the answer to a question consists of, before any of it is read. */
export interface Selection {
  /** Covers what would be sent and nothing else, so that a change elsewhere disturbs nobody. */
  readonly version: string;
  readonly parts: readonly SelectedPart[];
}

/** A whole segment, or one resource of it. */
export interface SelectedPart {
  readonly segment: SegmentRef;
  readonly name?: string;
}

/**
 * The whole type for a class, or the resources of the given names; unknown names are left out.
 *
 * @returns undefined when the root has no such class; a selection without parts when none of the names exists
 */
export async function selectResources(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  { classId, shape, type, names }: ResourceQuestion,
): Promise<Selection | undefined> {
  const proxyClass = loaded.classes.get(classId);
  if (proxyClass === undefined) return undefined;
  const tree = await reader.tree(loaded.root, type, proxyClass[shape][type]);
  if (isWildcard(type) && names.length === 0) {
    return { version: wireVersion(tree.version), parts: tree.parts };
  }
  const found = (await Promise.all(names.map((name) => findResource(reader, tree, name)))).flat();
  const versions = found.map(({ version }) => version);
  return { version: wireVersion(versions.length === 1 ? versions.join() : hashOf(versions.join())), parts: found };
}

/** A resource of a tree by its name: none, or one. */
export async function findResource(reader: Pick<SnapshotReader, "entries">, tree: LoadedTree, name: string) {
  const segment = segmentWith(tree.segments, name);
  const entry = segment && (await reader.entries(segment)).get(name);
  return segment === undefined || entry === undefined ? [] : [{ segment, name, version: entry.version }];
}

/** The segment whose range of names holds a name: they are sorted and do not overlap. */
function segmentWith(segments: readonly SegmentRef[], name: string): SegmentRef | undefined {
  let low = 0;
  let high = segments.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const ref = segments[middle];
    if (ref === undefined) return undefined;
    if (name < ref.first) high = middle - 1;
    else if (name > ref.last) low = middle + 1;
    else return ref;
  }
  return undefined;
}
