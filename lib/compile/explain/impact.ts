import { byCodePoint } from "../../base/diagnostic.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { type ResourceType, resourceTypes, type ShapeName, shapes } from "../../snapshot/resource-type.ts";
import type { SegmentRef } from "../../snapshot/root.ts";

/** A resource that some objects had a part in. */
export interface TouchedResource {
  readonly type: ResourceType;
  readonly name: string;
  readonly version: string;
  readonly shapes: readonly ShapeName[];
  /** Ids of the classes that have it, sorted. */
  readonly classes: readonly string[];
  /** Those of the objects that had a part in it. */
  readonly from: readonly string[];
}

interface Found extends Omit<TouchedResource, "shapes" | "classes"> {
  readonly shapes: Set<ShapeName>;
  readonly classes: Set<string>;
}

/**
 * What was made from some objects, from the provenance that is stored with each resource. A segment is read once, however many
 * classes have it.
 *
 * @param keys of the objects, as `keyText` writes them
 * @param services whose endpoints some of the objects are: they had a part in what holds endpoints
 * @returns by type in serving order, then name and version
 */
export async function touchedBy(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  keys: ReadonlySet<string>,
  services: ReadonlySet<string>,
): Promise<readonly TouchedResource[]> {
  const found = new Map<string, Found>();
  for (const type of resourceTypes) {
    const byKeys = createSegmentSearch(reader, keys);
    const byEndpoints = createSegmentSearch(reader, new Set([...keys, ...services]));
    const inTree = new Map<string, readonly Touched[]>();
    for (const [id, proxyClass] of loaded.classes) {
      for (const shape of shapes) {
        const index = proxyClass[shape][type];
        const holdsEndpoints = type === "endpoints" || (type === "clusters" && shape === "poll");
        const slot = `${holdsEndpoints} ${index}`;
        const search = holdsEndpoints ? byEndpoints : byKeys;
        const { segments } = await reader.tree(loaded.root, type, index);
        const touched = inTree.get(slot) ?? (await inSegments(segments, search));
        inTree.set(slot, touched);
        for (const resource of touched) {
          const key = [type, resource.name, resource.version].join("\0");
          const entry = found.get(key) ?? { type, ...resource, shapes: new Set(), classes: new Set() };
          found.set(key, entry);
          entry.shapes.add(shape);
          entry.classes.add(id);
        }
      }
    }
  }
  return [...found.values()].sort(inOrder).map(({ shapes: inShapes, classes, ...resource }) => ({
    ...resource,
    shapes: shapes.filter((shape) => inShapes.has(shape)),
    classes: [...classes].sort(byCodePoint),
  }));
}

type Touched = Pick<TouchedResource, "name" | "version" | "from">;
type SegmentSearch = (segment: SegmentRef) => Promise<readonly Touched[]>;

async function inSegments(segments: readonly SegmentRef[], search: SegmentSearch): Promise<readonly Touched[]> {
  const touched: Touched[] = [];
  for (const segment of segments) touched.push(...(await search(segment)));
  return touched;
}

function createSegmentSearch(reader: SnapshotReader, keys: ReadonlySet<string>): SegmentSearch {
  const known = new Map<string, readonly Touched[]>();
  return async (segment) => {
    const before = known.get(segment.hash);
    if (before !== undefined) return before;
    const entries = await reader.entries(segment);
    const touched = [...entries.values()].flatMap(({ name, version, from }) => {
      const own = from.filter((key) => keys.has(key));
      return own.length === 0 ? [] : [{ name, version, from: own }];
    });
    known.set(segment.hash, touched);
    return touched;
  };
}

const inOrder = (a: Found, b: Found): number =>
  resourceTypes.indexOf(a.type) - resourceTypes.indexOf(b.type) ||
  byCodePoint(a.name, b.name) ||
  byCodePoint(a.version, b.version);
