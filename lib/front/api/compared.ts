import { byCodePoint } from "../../base/diagnostic.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { type ResourceType, resourceTypes, type ShapeName } from "../../snapshot/resource-type.ts";
import type { ProxyClass, ResourceEntry, SegmentRef } from "../../snapshot/root.ts";

/** A resource that differs between two versions. */
export interface Differing {
  readonly type: ResourceType;
  readonly name: string;
  readonly change: "added" | "removed" | "changed";
  /** The first class in which it does: of after, and of before, which is another one where its proxies moved. */
  readonly classId: string;
  readonly earlierId: string;
  /** In how many classes. */
  classes: number;
  readonly from: readonly string[];
}

export interface Compared {
  /** By type in serving order, then name. */
  readonly resources: readonly Differing[];
  /** More differs than was looked at. */
  readonly isPartial: boolean;
}

/** Segments that are read for one comparison, of some hundred resources each at most. */
const maxSegments = 4_000;
/** Resources that one comparison lists. */
const maxResources = 10_000;

/** Two classes that stand for the same proxies. */
export type ClassPair = readonly [before: ProxyClass, after: ProxyClass];

/**
 * What differs between the resources of two versions in one shape. Only segments that one side alone has are read, and those that several
 * classes share once.
 */
export async function compareVersions(
  reader: SnapshotReader,
  before: LoadedRoot,
  after: LoadedRoot,
  pairs: readonly ClassPair[],
  shape: ShapeName,
): Promise<Compared> {
  const found = new Map<string, Differing>();
  const known = new Map<string, readonly Change[]>();
  const left = { segments: maxSegments };
  let isPartial = false;
  for (const type of resourceTypes) {
    for (const [old, now] of pairs) {
      const [was, is] = [
        await segmentsOf(reader, before, old, shape, type),
        await segmentsOf(reader, after, now, shape, type),
      ];
      const [gone, come] = apart(was, is);
      if (gone.length + come.length === 0) continue;
      const key = [...gone, ...come].map(({ hash }) => hash).join();
      const changes = known.get(key) ?? (await changesIn(reader, gone, come, left));
      known.set(key, changes);
      for (const { name, change, from, versions } of changes) {
        const id = [type, name, versions].join("\0");
        const entry = found.get(id);
        if (entry !== undefined) entry.classes += 1;
        else if (found.size >= maxResources) isPartial = true;
        else found.set(id, { type, name, change, from, classId: now.id, earlierId: old.id, classes: 1 });
      }
    }
  }
  const resources = [...found.values()].sort(
    (a, b) => resourceTypes.indexOf(a.type) - resourceTypes.indexOf(b.type) || byCodePoint(a.name, b.name),
  );
  return { resources, isPartial: isPartial || left.segments < 0 };
}

interface Change extends Pick<Differing, "name" | "change" | "from"> {
  readonly versions: string;
}

async function segmentsOf(
  reader: SnapshotReader,
  { root }: LoadedRoot,
  proxyClass: ProxyClass,
  shape: ShapeName,
  type: ResourceType,
): Promise<readonly SegmentRef[]> {
  return (await reader.tree(root, type, proxyClass[shape][type])).segments;
}

/** Segments that one side alone has. */
function apart(
  before: readonly SegmentRef[],
  after: readonly SegmentRef[],
): readonly [readonly SegmentRef[], readonly SegmentRef[]] {
  if (before === after) return [[], []];
  const [old, now] = [new Set(before.map(({ hash }) => hash)), new Set(after.map(({ hash }) => hash))];
  return [before.filter(({ hash }) => !now.has(hash)), after.filter(({ hash }) => !old.has(hash))];
}

async function changesIn(
  reader: SnapshotReader,
  gone: readonly SegmentRef[],
  come: readonly SegmentRef[],
  left: { segments: number },
): Promise<readonly Change[]> {
  left.segments -= gone.length + come.length;
  if (left.segments < 0) return [];
  const was = await entriesOf(reader, gone);
  const is = await entriesOf(reader, come);
  const changes: Change[] = [];
  for (const [name, { version, from }] of is) {
    const old = was.get(name);
    if (old?.version === version) continue;
    const change = old === undefined ? "added" : "changed";
    changes.push({ name, change, from, versions: `${old?.version ?? ""} ${version}` });
  }
  for (const [name, { version, from }] of was)
    if (!is.has(name)) changes.push({ name, change: "removed", from, versions: `${version} ` });
  return changes;
}

async function entriesOf(
  reader: SnapshotReader,
  segments: readonly SegmentRef[],
): Promise<ReadonlyMap<string, ResourceEntry>> {
  const entries = new Map<string, ResourceEntry>();
  for (const segment of segments) for (const [name, entry] of await reader.entries(segment)) entries.set(name, entry);
  return entries;
}
