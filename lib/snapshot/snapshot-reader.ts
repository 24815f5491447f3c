import { PortolanError } from "../config/diagnostic.ts";
import { inParallel } from "../storage/in-parallel.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { blobKey, concatBytes, hashOf } from "./blob.ts";
import type { Classifier } from "./classifier.ts";
import { readRoot } from "./format.ts";
import { readGate } from "./head/gates.ts";
import type { LegacyIndex } from "./legacy/compiled-legacy.ts";
import { createLongReader, type LongReader, loadInOrder } from "./long/read-long.ts";
import { classesIn, nodesIn, shardFor } from "./node-index.ts";
import { createTableReader } from "./read-table.ts";
import type { ResourceType } from "./resource-type.ts";
import type {
  BinaryRef,
  ClassTable,
  Gate,
  LongRef,
  NodeShard,
  NodeShardList,
  PartRef,
  ProxyClass,
  ResourceEntry,
  Root,
  SegmentList,
  SegmentRef,
} from "./root.ts";
import { type ResourceSpan, readBinarySpans, readSpans } from "./segment.ts";
import { createLoadCache } from "./worlds/load-cache.ts";

/** A root with what every request needs of it. */
export interface LoadedRoot {
  readonly hash: string;
  readonly root: Root;
  readonly classes: ReadonlyMap<string, ProxyClass>;
  readonly classifier: Classifier;
  /** What it was read from, as it is stored. */
  readonly storedBytes: number;
}

export interface LoadedTree {
  readonly version: string;
  readonly segments: readonly SegmentRef[];
  /** All of it, as an answer that comes whole lists it. */
  readonly parts: readonly { readonly segment: SegmentRef }[];
}

/** A run of segments; equal keys, the same segments. */
export interface LoadedPart {
  readonly key: string;
  readonly segments: readonly SegmentRef[];
  /** As it is stored. */
  readonly ref: PartRef;
}

/** All of a type's table. */
export interface LoadedTable {
  readonly parts: readonly LoadedPart[];
  /** Of each tree the places of its parts. */
  readonly trees: readonly (readonly number[])[];
  /** Every blob that it names, its own among them. */
  readonly blobs: ReadonlySet<string>;
}

export interface LoadedSegment {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly spans: ReadonlyMap<string, ResourceSpan>;
}

/** A part of a long resource, by its blob. */
type RunRef = Pick<BinaryRef, "hash">;

/** Reads snapshots out of a store; what is read stays in memory up to a limit, and is never stale, being named by its hash. */
export interface SnapshotReader {
  root(hash: string): Promise<LoadedRoot>;
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
  /** What resources a segment has, by name. The text of a long one is not read. */
  entries(ref: SegmentRef): Promise<ReadonlyMap<string, ResourceEntry>>;
  /** The texts of a segment, joined by commas, or that of one resource of it; nothing for a name that it does not have. */
  texts(ref: SegmentRef, name?: string): AsyncGenerator<Uint8Array<ArrayBuffer>>;
  /** Its resources in protobuf's binary form; undefined when it was published without. */
  binaries(ref: SegmentRef): Promise<LoadedSegment | undefined>;
  /** A segment's blob. @throws PortolanError for one of a long resource, which has none */
  segment(ref: SegmentRef): Promise<LoadedSegment>;
  /** The gate of a step; undefined for one that is missing or damaged. */
  gate(hash: string): Promise<Gate | undefined>;
  /** Where the parts of long resources lie. */
  readonly long: LongReader;
  /**
   * Classes of the nodes that have a key in the root's node index.
   *
   * @param clusterId of the node: one class at most; absent: those of all clusters that have such a node
   */
  nodeClasses(root: Root, key: string, clusterId?: string): Promise<readonly string[]>;
  /** The index of the legacy API. */
  legacy(hash: string): Promise<LegacyIndex>;
  /** A text of the legacy API, as its index or a composition names it. */
  legacyText(hash: string): Promise<string>;
  /** A chunk of the legacy API's documents. */
  legacyChunk(hash: string): Promise<Uint8Array<ArrayBuffer>>;
  /** A blob, not kept. @throws PortolanError when it is not there */
  bytes(hash: string): Promise<Uint8Array<ArrayBuffer>>;
  /** A blob's text, not kept. @throws PortolanError when it is not there */
  text(hash: string): Promise<string>;
  /** The same, undefined when the store has no such blob, or another under its name. */
  textIfWhole(hash: string): Promise<string | undefined>;
}

/** Of a type that nothing was compiled of. Its version is one that readers can compare, as those of all others are. */
const noTree: LoadedTree = { version: hashOf(""), segments: [], parts: [] };
const noTable: LoadedTable = { parts: [], trees: [], blobs: new Set() };

/** All that a reader needs of a store. */
export type BlobSource = Pick<ObjectStore, "get">;

/** Of roots, and of what else there is one of each: the current one, the steps around it, a canary. */
const maxKept = 16;

/** So that no more of them are kept than `maxKept`, however small they are. */
const atLeast = (storedBytes: number, maxBytes: number): number => Math.max(storedBytes, maxBytes / maxKept);

/**
 * @param maxBytes stored size of the segments that are kept; of roots as much again, of the rest less
 * @param onMissed told of each blob that the store has not, or another one under its name
 */
export function createSnapshotReader(
  store: BlobSource,
  maxBytes = 64 * 1024 * 1024,
  onMissed: (hash: string) => void = () => {},
): SnapshotReader {
  async function read(hash: string): Promise<Uint8Array<ArrayBuffer> | "absent" | "damaged"> {
    const result = await store.get(blobKey(hash));
    if (result.kind !== "found") return "absent";
    // Everything that is read is checked here, once: what stays in memory is not read again.
    return hashOf(result.bytes) === hash ? result.bytes : "damaged";
  }
  async function bytes(hash: string): Promise<Uint8Array<ArrayBuffer>> {
    const found = await read(hash);
    if (typeof found === "string") onMissed(hash);
    if (found === "absent") throw new PortolanError(`the store has no blob ${hash}`);
    if (found === "damaged") throw new PortolanError(`blob ${hash} holds other bytes than its name means`);
    return found;
  }
  const text = async (hash: string) => new TextDecoder().decode(await bytes(hash));

  // What is parsed here was written by encodeWorld: a blob's name vouches for its content.
  const tables = createTableReader(text, maxBytes / 8);
  const lists = createLoadCache<string, SegmentList>({
    nameOf: (hash) => hash,
    maxBytes: maxBytes / 8,
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
    maxBytes: maxBytes / 8,
    load: async ({ table: hash, index }) => {
      const tree = await tables.tree(hash, index);
      if (tree === undefined) throw new PortolanError(`the table ${hash} has no tree ${index}`);
      const { version, parts } = tree;
      const segments = (await Promise.all(parts.map(segmentsOf))).flat();
      return { version, segments, parts: segments.map((segment) => ({ segment })) };
    },
    sizeOf: (tree) => 100 + tree.segments.length * 50,
  });
  const shards = createLoadCache<string, NodeShard>({
    nameOf: (hash) => hash,
    maxBytes: maxBytes / 8,
    load: async (hash) => JSON.parse(await text(hash)),
    sizeOf: (shard) => nodesIn(shard).length * 100,
  });
  const legacyIndexes = createLoadCache<string, { readonly index: LegacyIndex; readonly storedBytes: number }>({
    nameOf: (hash) => hash,
    maxBytes: maxBytes / 4,
    keepsLatest: true,
    load: async (hash) => {
      const found = await text(hash);
      return { index: JSON.parse(found), storedBytes: found.length };
    },
    sizeOf: ({ storedBytes }) => atLeast(storedBytes, maxBytes / 4),
  });
  const legacyTexts = createLoadCache<string, string>({
    nameOf: (hash) => hash,
    maxBytes: maxBytes / 4,
    load: text,
    sizeOf: (loaded) => loaded.length,
  });
  const gates = createLoadCache<string, Gate | undefined>({
    nameOf: (hash) => hash,
    maxBytes: maxBytes / 8,
    load: (hash) => readGate(store, hash),
    sizeOf: (gate) => 100 + 100 * Object.keys(gate?.classes ?? {}).length,
  });
  const roots = createLoadCache<string, LoadedRoot>({
    nameOf: (hash) => hash,
    maxBytes,
    // However large it is, what is in force is not read for every request.
    keepsLatest: true,
    load: async (hash) => {
      const rootText = await text(hash);
      const root = readRoot(hash, rootText);
      const { nodes: listed = [], nodeList } = root;
      const [classes, nodes, shardList] = await Promise.all([
        text(root.classes),
        text(root.classifier),
        nodeList === undefined ? "" : text(nodeList),
      ]);
      const table: ClassTable = JSON.parse(classes);
      const classifier: Classifier = JSON.parse(nodes);
      const list: NodeShardList = nodeList === undefined ? { shards: listed } : JSON.parse(shardList);
      return {
        hash,
        root: { ...root, nodes: list.shards },
        classifier,
        classes: new Map(table.classes.map((proxyClass) => [proxyClass.id, proxyClass])),
        storedBytes: rootText.length + classes.length + nodes.length + shardList.length,
      };
    },
    sizeOf: ({ storedBytes }) => atLeast(storedBytes, maxBytes),
  });
  const long = createLongReader(text, maxBytes / 4);
  const segmentCache = <R extends BinaryRef | RunRef>(
    spansOf: (ref: R, bytes: Uint8Array) => readonly ResourceSpan[],
  ) =>
    createLoadCache<R, LoadedSegment>({
      nameOf: (ref) => ref.hash,
      maxBytes,
      load: async (ref) => {
        const raw = await bytes(ref.hash);
        return { bytes: raw, spans: new Map(spansOf(ref, raw).map((span) => [span.name, span])) };
      },
      sizeOf: (segment) => segment.bytes.length,
    });
  const segments = segmentCache<SegmentRef | RunRef>((ref, raw) => ("first" in ref ? readSpans(ref, raw) : []));
  const binarySegments = segmentCache<BinaryRef | RunRef>((ref, raw) =>
    "bodyOffset" in ref ? readBinarySpans(ref, raw) : [],
  );

  async function* texts(ref: SegmentRef, name?: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    if (ref.long !== undefined) {
      if (name !== undefined && name !== ref.first) return;
      const runs = await long.runs(ref.long);
      for await (const { bytes } of loadInOrder(runs, ({ text: hash }) => segments.get({ hash }))) yield bytes;
      return;
    }
    const { bytes, spans } = await segments.get(ref);
    if (name === undefined) return yield bytes.subarray(ref.bodyOffset);
    const span = spans.get(name);
    if (span !== undefined) yield bytes.subarray(span.offset, span.offset + span.bytes);
  }

  /** @param parts of the table */
  async function blobsOf(table: string, parts: readonly LoadedPart[]): Promise<ReadonlySet<string>> {
    const blobs = new Set(await tables.blobs(table));
    const longRefs: LongRef[] = [];
    for (const { ref, segments } of parts) {
      if ("list" in ref) blobs.add(ref.list);
      for (const segment of segments) {
        if (segment.long === undefined) blobs.add(segment.hash);
        else longRefs.push(segment.long);
        if (segment.binary !== undefined) blobs.add(segment.binary.hash);
      }
    }
    for (const ofLong of await inParallel(longRefs, (ref) => long.blobs(ref)))
      for (const hash of ofLong) blobs.add(hash);
    return blobs;
  }

  return {
    root: (hash) => roots.get(hash),
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
      return { parts, trees, blobs: await blobsOf(hash, parts) };
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
      return blobsOf(hash, await inParallel(await tables.parts(hash), loadPart));
    },
    async entries(ref) {
      if (ref.long === undefined) return (await segments.get(ref)).spans;
      const { version } = ref.long;
      const entry = { name: ref.first, version, bytes: ref.bodyBytes, from: await long.origins(ref.long) };
      return new Map([[entry.name, entry]]);
    },
    texts,
    async binaries(ref) {
      if (ref.long === undefined) return ref.binary && binarySegments.get(ref.binary);
      const runs = await long.runs(ref.long);
      const hashes = runs.flatMap(({ binary }) => (binary === undefined ? [] : [{ hash: binary }]));
      if (hashes.length < runs.length) return undefined;
      // One message: its parts are put together for as long as it is sent.
      const parts = await Promise.all(hashes.map((hash) => binarySegments.get(hash)));
      const whole = concatBytes(parts.map(({ bytes }) => bytes));
      const span = { name: ref.first, version: ref.long.version, bytes: whole.length, from: [], offset: 0 };
      return { bytes: whole, spans: new Map([[span.name, span]]) };
    },
    segment: (ref) => segments.get(ref),
    gate: (hash) => gates.get(hash),
    long,
    bytes,
    async nodeClasses(root, key, clusterId) {
      const shard = shardFor(root.nodes, key);
      return shard === undefined ? [] : classesIn(await shards.get(shard.hash), key, clusterId);
    },
    legacy: async (hash) => (await legacyIndexes.get(hash)).index,
    legacyText: (hash) => legacyTexts.get(hash),
    legacyChunk: async (hash) => (await segments.get({ hash })).bytes,
    text,
    async textIfWhole(hash) {
      const found = await read(hash);
      return typeof found === "string" ? undefined : new TextDecoder().decode(found);
    },
  };
}
