import { PortolanError } from "../../config/diagnostic.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import { listHashed } from "../../storage/list-hashed.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { blobFolder, blobKey } from "../blob.ts";
import type { CompiledClass, CompiledList, CompiledPart, CompiledShape } from "../compiled.ts";
import { partsIn } from "../long/listed-part.ts";
import { withNamed, withoutNames } from "../read-table.ts";
import { extraTypes, type ResourceType, resourceTypes } from "../resource-type.ts";
import type { ListRef, ListRefs, Part, Root, SegmentList, SegmentRef, Shape, TreeList, TypeTable } from "../root.ts";
import { createSnapshotReader, type SnapshotReader } from "../snapshot-reader.ts";
import { readRecord, type StandingRecord } from "./standing-record.ts";
import { storedPart } from "./stored-part.ts";

/** The answers of a root's classes, none of which was read. */
export interface StoredClasses {
  readonly root: Root;
  readonly record: StandingRecord;
  readonly classes: ReadonlyMap<string, CompiledClass>;
}

/**
 * A root whose trees may be taken as they lie in the store: it says what it was made with, and the store lists every blob of it, with the
 * size that it has to have.
 *
 * @param key that it must have been made with; absent: with any
 * @returns undefined for a root that says nothing of it, or was made otherwise
 * @throws PortolanError when a blob is missing or damaged
 */
export async function readStored(
  store: ObjectStore,
  rootHash: string,
  key?: string,
): Promise<StoredClasses | undefined> {
  const reader = createSnapshotReader(store);
  const { root, classes } = await reader.root(rootHash);
  if (root.standing === undefined) return undefined;
  const record = readRecord(await reader.textIfWhole(root.standing));
  if (record === undefined || record.key !== (key ?? record.key)) return undefined;
  const [listed, tables] = await Promise.all([
    sizesOfBlobs(store),
    Promise.all(resourceTypes.map((type) => readTable(reader, root.tables[type]))),
  ]);
  const lists = new Map<ResourceType, readonly CompiledList[]>();
  const sizes = new Map<string, number>();
  for (const [at, type] of resourceTypes.entries()) {
    const table = tables[at];
    if (table === undefined) return undefined;
    for (const { hash, bodyOffset, bodyBytes, long } of table.segments) {
      if (long === undefined) sizes.set(hash, bodyOffset + bodyBytes);
    }
    const parts = table.parts.map((part, at) => partOf(part, table.segmentsOf[at] ?? [], record.secrets));
    lists.set(
      type,
      table.trees.map((tree) => tree.map((at) => parts[at] ?? noPart)),
    );
  }
  await refuseMissing(reader, root, { listed, sizes });
  const listAt = (type: ResourceType, index: number | undefined): CompiledList =>
    (index === undefined ? undefined : lists.get(type)?.[index]) ?? noList;
  const shapeOf = (shape: Shape): CompiledShape => ({
    clusters: listAt("clusters", shape.clusters),
    endpoints: listAt("endpoints", shape.endpoints),
    listeners: listAt("listeners", shape.listeners),
    routes: listAt("routes", shape.routes),
    ...Object.fromEntries(
      extraTypes.flatMap((type) => (shape[type] === undefined ? [] : [[type, listAt(type, shape[type])]])),
    ),
  });
  const stored = [...classes].map(
    ([id, { stream, poll }]) => [id, { id, stream: shapeOf(stream), poll: shapeOf(poll) }] as const,
  );
  return { root, record, classes: new Map(stored) };
}

const noList: CompiledList = [];
const noPart: CompiledPart = [];

interface ReadTable {
  readonly parts: readonly Part[];
  /** Of each part. */
  readonly segmentsOf: readonly (readonly SegmentRef[])[];
  readonly segments: readonly SegmentRef[];
  /** Indexes of parts. */
  readonly trees: readonly (readonly number[])[];
}

const noTable: ReadTable = { parts: [], segmentsOf: [], segments: [], trees: [] };

/** @returns undefined for a table of an earlier version */
async function readTable(reader: SnapshotReader, hash: string | undefined): Promise<ReadTable | undefined> {
  if (hash === undefined) return noTable;
  const { partLists, treeLists }: Partial<TypeTable> = JSON.parse(await reader.text(hash));
  if (partLists === undefined || treeLists === undefined) return undefined;
  const listsOf = async (lists: readonly ListRef[]) =>
    withoutNames(await withNamed(lists, async (list): Promise<ListRefs> => JSON.parse(await reader.text(list))));
  const parts = await inParallel(await listsOf(partLists), async (list) => partsIn(await reader.text(list.hash)));
  const trees = await inParallel(await listsOf(treeLists), async (list): Promise<readonly (readonly number[])[]> => {
    const { trees: found }: TreeList = JSON.parse(await reader.text(list.hash));
    return found.map((tree) => tree.parts);
  });
  const segmentsOf = await inParallel(parts.flat(), async (part): Promise<readonly SegmentRef[]> => {
    if (!("list" in part)) return [part.segment];
    const { segments }: SegmentList = JSON.parse(await reader.text(part.list));
    return segments;
  });
  return { parts: parts.flat(), segmentsOf, segments: segmentsOf.flat(), trees: trees.flat() };
}

function partOf(part: Part, segments: readonly SegmentRef[], secrets: StandingRecord["secrets"]): CompiledPart {
  const key = "list" in part ? part.list : part.segment.hash;
  return storedPart({
    first: segments[0]?.first ?? "",
    last: segments.at(-1)?.last ?? "",
    count: segments.reduce((sum, { resources }) => sum + resources, 0),
    reference: { key, content: part.content, text: JSON.stringify(part), secrets: secrets[key] ?? [] },
  });
}

/** What a store lists of its blobs, in bytes, by their keys. */
async function sizesOfBlobs(store: ObjectStore): Promise<ReadonlyMap<string, number>> {
  const listed = new Map<string, number>();
  await listHashed(store, blobFolder, ({ key, sizeBytes }) => listed.set(key, sizeBytes));
  return listed;
}

interface BlobSizes {
  /** What the store says, by key. */
  readonly listed: ReadonlyMap<string, number>;
  /** What blobs have to be, by hash, where it is known. */
  readonly sizes: ReadonlyMap<string, number>;
}

/** @throws PortolanError for the first blob that the store does not list, or lists with another size */
async function refuseMissing(reader: SnapshotReader, root: Root, { listed, sizes }: BlobSizes): Promise<void> {
  const ofTypes = await Promise.all(resourceTypes.map((type) => reader.blobsOfType(root, type)));
  for (const hash of ofTypes.flatMap((blobs) => [...blobs])) {
    const found = listed.get(blobKey(hash));
    if (found === undefined || found !== (sizes.get(hash) ?? found)) {
      throw new PortolanError(`the store has no blob ${hash}, or one of another size`);
    }
  }
}
