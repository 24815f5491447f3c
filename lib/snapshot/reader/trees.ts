import { hashOf } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { LongReader } from "../long/read-long.ts";
import type { ResourceType } from "../resource-type.ts";
import type { LongRef, PartRef, Root, SegmentList, SegmentRef } from "../root.ts";
import { createLoadCache } from "../worlds/load-cache.ts";
import type { Blobs } from "./blobs.ts";
import type { LoadedPart, LoadedTable, LoadedTree } from "./loaded.ts";
import { createTableReader } from "./read-table.ts";

/** Reads which segments the answers of a root consist of. */
export interface Trees {
  /** The answer of one type, by its index in a class's shape. */
  tree(root: Root, type: ResourceType, index: number | undefined): Promise<LoadedTree>;
  /** The parts of a tree, each with its segments and a key that names them. */
  parts(root: Root, type: ResourceType, index: number | undefined): Promise<readonly LoadedPart[]>;
  /** All answers of one type, for whoever wants most of them. */
  table(root: Root, type: ResourceType): Promise<LoadedTable>;
  /** Version of such an answer, for whoever needs no more of it. */
  treeVersion(root: Root, type: ResourceType, index: number | undefined): Promise<string | undefined>;
  /** The blobs of a type's table itself: names and hashes, and no resources. */
  tableBlobs(root: Root, type: ResourceType): Promise<readonly string[]>;
  /** Every blob that a type's table names, the table among them. */
  blobsOfType(root: Root, type: ResourceType): Promise<ReadonlySet<string>>;
}

/** Of a type that nothing was compiled of. Its version is one that readers can compare, as those of all others are. */
const noTree: LoadedTree = { version: hashOf(""), segments: [], parts: [] };
const noTable: LoadedTable = { parts: [], trees: [], blobs: new Set() };

/** @param maxBytes of each kind of table, list and tree, estimated */
export function createTrees({ text }: Blobs, long: LongReader, maxBytes: number): Trees {
  const tables = createTableReader(text, maxBytes);
  const lists = createLoadCache<string, SegmentList>({
    nameOf: (hash) => hash,
    maxBytes,
    load: async (hash) => JSON.parse(await text(hash)),
    sizeOf: (list) => list.segments.length * 200,
  });
  const segmentsOf = async (part: PartRef): Promise<readonly SegmentRef[]> =>
    "list" in part ? (await lists.get(part.list)).segments : [part.segment];
  const loadPart = async (ref: PartRef): Promise<LoadedPart> => ({
    key: "list" in ref ? ref.list : ref.segment.hash,
    segments: await segmentsOf(ref),
    ref,
  });
  const trees = createLoadCache<{ readonly table: string; readonly index: number }, LoadedTree>({
    nameOf: ({ table, index }) => `${table} ${index}`,
    maxBytes,
    load: async ({ table: hash, index }) => {
      const tree = await tables.tree(hash, index);
      if (tree === undefined) throw new PortolanError(`the table ${hash} has no tree ${index}`);
      const { version, parts } = tree;
      const segments = (await Promise.all(parts.map(segmentsOf))).flat();
      return { version, segments, parts: segments.map((segment) => ({ segment })) };
    },
    sizeOf: (tree) => 100 + tree.segments.length * 50,
  });

  /** @param parts of the table */
  async function blobsIn(table: string, parts: readonly LoadedPart[]): Promise<ReadonlySet<string>> {
    const longRefs = parts.flatMap(({ segments }) => segments.flatMap(({ long: ref }) => ref ?? []));
    const ofLong = await inParallel<LongRef, readonly string[]>(longRefs, (ref) => long.blobs(ref));
    return new Set([...(await tables.blobs(table)), ...parts.flatMap(blobsOfPart), ...ofLong.flat()]);
  }

  return {
    tree: async (root, type, index) => {
      const table = root.tables[type];
      return table === undefined || index === undefined ? noTree : trees.get({ table, index });
    },
    async parts(root, type, index) {
      const table = root.tables[type];
      if (table === undefined || index === undefined) return [];
      const { parts = [] } = (await tables.tree(table, index)) ?? {};
      return Promise.all(parts.map(loadPart));
    },
    async table(root, type) {
      const hash = root.tables[type];
      if (hash === undefined) return noTable;
      const { parts: refs, trees } = await tables.whole(hash);
      const parts = await inParallel(refs, loadPart);
      return { parts, trees, blobs: await blobsIn(hash, parts) };
    },
    async treeVersion(root, type, index) {
      const table = root.tables[type];
      return table === undefined || index === undefined ? undefined : (await tables.tree(table, index))?.version;
    },
    async tableBlobs(root, type) {
      const table = root.tables[type];
      return table === undefined ? [] : tables.blobs(table);
    },
    async blobsOfType(root, type) {
      const hash = root.tables[type];
      if (hash === undefined) return noTable.blobs;
      return blobsIn(hash, await inParallel(await tables.parts(hash), loadPart));
    },
  };
}

/** The list and the segments of a part; those of long resources are listed apart. */
const blobsOfPart = ({ ref, segments }: LoadedPart): readonly string[] => [
  ...("list" in ref ? [ref.list] : []),
  ...segments.flatMap(({ long, hash, binary }) => [
    ...(long === undefined ? [hash] : []),
    ...(binary === undefined ? [] : [binary.hash]),
  ]),
];
