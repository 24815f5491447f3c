import { blobFolder, blobKey } from "../../base/blob.ts";
import { type Diagnostic, PortolanError } from "../../base/diagnostic.ts";
import { listHashed } from "../../storage/list-hashed.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { CompiledClass, CompiledList, CompiledPart, CompiledShape } from "../compiled.ts";
import type { LoadedPart, LoadedTable } from "../reader/loaded.ts";
import { createSnapshotReader, type SnapshotReader } from "../reader/snapshot-reader.ts";
import { extraTypes, type ResourceType, resourceTypes } from "../resource-type.ts";
import type { Part, PartRef, Root, Shape } from "../root.ts";
import { type ReuseRecord, readRecord } from "./reuse-record.ts";
import { storedPart } from "./stored-part.ts";

/** A root, how it was compiled, and its diagnostics. */
export interface StoredRecord {
  readonly root: Root;
  readonly record: ReuseRecord;
  readonly diagnostics: readonly Diagnostic[];
}

/** The classes of a root, none of whose resources were read. */
export interface StoredClasses extends StoredRecord {
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
  const said = await recordOfRoot(reader, rootHash, key);
  if (said === undefined) return undefined;
  const { root, record } = said;
  const [{ classes }, listed, tables] = await Promise.all([
    reader.root(rootHash),
    sizesOfBlobs(store),
    Promise.all(resourceTypes.map((type) => reader.table(root, type))),
  ]);
  refuseMissing(tables, listed);
  const lists = new Map<ResourceType, readonly CompiledList[]>();
  for (const [at, type] of resourceTypes.entries()) {
    const { parts = [], trees = [] } = tables[at] ?? {};
    const stored: CompiledPart[] = [];
    for (const part of parts) {
      // In a table of an earlier version parts do not say what they hold.
      if (!isPart(part.ref)) return undefined;
      stored.push(unreadPart(part, part.ref, record.secrets[part.key]));
    }
    lists.set(
      type,
      trees.map((tree) => tree.map((at) => stored[at] ?? noPart)),
    );
  }
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
  return { ...said, classes: new Map(stored) };
}

/**
 * What a root says of how it was made.
 *
 * @param key that it must have been made with; absent: with any
 * @returns undefined for a root that says nothing of it, or was made otherwise
 * @throws PortolanError when a blob is missing or damaged
 */
export async function recordOfRoot(
  reader: SnapshotReader,
  rootHash: string,
  key?: string,
): Promise<StoredRecord | undefined> {
  const { root } = await reader.root(rootHash);
  if (root.standing === undefined) return undefined;
  const [text, diagnostics] = await Promise.all([reader.textIfWhole(root.standing), reader.text(root.diagnostics)]);
  const record = readRecord(text);
  if (record === undefined || record.key !== (key ?? record.key)) return undefined;
  return { root, record, diagnostics: JSON.parse(diagnostics) };
}

const noList: CompiledList = [];
const noPart: CompiledPart = [];

/** Whether it says what it holds; one in a table of an earlier version does not. */
export const isPart = (ref: PartRef): ref is Part => "content" in ref;

/** A part as it lies in the store. @param secrets that it names, as the record of its root has them; absent: none */
export const unreadPart = (
  { key, segments }: LoadedPart,
  ref: Part,
  secrets: readonly string[] | undefined,
): CompiledPart =>
  storedPart({
    first: segments[0]?.first ?? "",
    last: segments.at(-1)?.last ?? "",
    count: segments.reduce((sum, { resources }) => sum + resources, 0),
    reference: { key, content: ref.content, text: JSON.stringify(ref), secrets: secrets ?? [] },
  });

/** What a store lists of its blobs, in bytes, by their keys. */
async function sizesOfBlobs(store: ObjectStore): Promise<ReadonlyMap<string, number>> {
  const listed = new Map<string, number>();
  await listHashed(store, blobFolder, ({ key, sizeBytes }) => listed.set(key, sizeBytes));
  return listed;
}

/**
 * @param listed what the store says, by key
 * @throws PortolanError for the first blob that the store does not list, or lists with another size than a segment has to have
 */
function refuseMissing(tables: readonly LoadedTable[], listed: ReadonlyMap<string, number>): void {
  for (const { parts, blobs } of tables) {
    const sizes = new Map<string, number>();
    for (const { hash, bodyOffset, bodyBytes, long } of parts.flatMap(({ segments }) => segments)) {
      if (long === undefined) sizes.set(hash, bodyOffset + bodyBytes);
    }
    for (const hash of blobs) {
      const found = listed.get(blobKey(hash));
      if (found === undefined || found !== (sizes.get(hash) ?? found)) {
        throw new PortolanError(`the store has no blob ${hash}, or one of another size`);
      }
    }
  }
}
