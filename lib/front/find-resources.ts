import type { SegmentRef, TypeTree } from "../snapshot/root.ts";
import type { ResourceSpan } from "../snapshot/segment.ts";
import type { LoadedSegment, SnapshotReader } from "../snapshot/snapshot-reader.ts";

export interface FoundResource {
  readonly segment: LoadedSegment;
  readonly span: ResourceSpan;
}

/** The resources of a tree with these names, in the order of the names; unknown ones are left out. */
export async function findResources(
  reader: SnapshotReader,
  tree: TypeTree,
  names: readonly string[],
): Promise<readonly FoundResource[]> {
  const found = await Promise.all(
    names.map(async (name) => {
      const ref = segmentWith(tree.segments, name);
      const segment = ref && (await reader.segment(ref));
      const span = segment?.spans.get(name);
      return segment === undefined || span === undefined ? [] : [{ segment, span }];
    }),
  );
  return found.flat();
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
