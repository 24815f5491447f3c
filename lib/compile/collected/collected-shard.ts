import { PortolanError } from "../../base/diagnostic.ts";
import { isFields, jsonIn } from "../../base/untyped.ts";
import { sha256 } from "../../config/canonical-json.ts";
import { diffTrees, type NodeSource, readNode, type TreeNode } from "../../config-store/ledger/merkle-tree.ts";
import type { OriginAbout, OriginObject } from "../../registry/origin/origin.ts";
import { splitEntry } from "../../registry/origin/packed-object.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { createSpend, refuseLarge, type SourceBounds, sourceBounds } from "../shards/source-bounds.ts";
import { UnreadableSource } from "../shards/unreadable-source.ts";
import { versionText } from "../shards/version-text.ts";
import { collectedKeys, readShardHead, type ShardHead } from "./shard-head.ts";

/** A source that a collector fills, as it lies in the store. */
export interface CollectedShard {
  readonly name: string;
  /** Equal objects of the same origin, equal version. */
  readonly version: string;
  readonly about: OriginAbout;
  /** By key. What did not change since the reading before is the same object. */
  readonly objects: ReadonlyMap<string, OriginObject>;
  /** Last valid forms of objects that the collector found to be invalid, by the same keys; absent where there are none. */
  readonly kept?: ReadonlyMap<string, OriginObject>;
  readonly isMeantEmpty?: boolean;
}

const keptPrefix = "last-valid:";

/** Under which key of the source's tree the last valid form of an object lies: no object of an origin has such a key. */
export const keptKey = (key: string): string => keptPrefix + key;

export const isKeptKey = (key: string): boolean => key.startsWith(keptPrefix);

/** The head of a collected source with the text and tag that it has in the store. */
export interface ReadShardHead {
  readonly head: ShardHead;
  readonly text: string;
  readonly etag: string;
}

/**
 * @param version an earlier one; absent: as it is now
 * @returns undefined where no collector has filled the source
 * @throws UnreadableSource when what lies there is no head
 */
export async function readHeadOf(
  store: ObjectStore,
  name: string,
  version?: string,
): Promise<ReadShardHead | undefined> {
  const keys = { present: collectedKeys.head(name), kept: collectedKeys.version(name, version ?? "") };
  const found = version === undefined ? await store.get(keys.present) : await versionText(store, keys, version);
  if (found?.kind !== "found") return undefined;
  const text = new TextDecoder().decode(found.bytes);
  const head = readShardHead(text);
  if (head === undefined) {
    // Under an earlier version's name there may be the list of a source of files.
    if (version !== undefined) return undefined;
    throw new UnreadableSource(`source ${name} is nothing that a collector has written`);
  }
  return { head, text, etag: found.etag };
}

/** A part of what was collected is missing or damaged. */
export class IncompleteSource extends UnreadableSource {}

/** More nodes are not remembered: 16 branches for each, and the leaves that changed last. */
const maxNodes = 1024;
/** Leaves of usual objects take half as much. */
const maxNodeBytes = 64 * 1024 * 1024;

/** Sixteen hashes. */
const branchBytes = 1_100;

const bytesOf = (node: TreeNode): number =>
  node.kind === "leaf" ? node.entries.reduce((sum, [key, entry]) => sum + key.length + entry.length, 0) : branchBytes;

/** The nodes of a source's tree, those near the root and the latest remembered. */
export function nodesOf(store: ObjectStore, name: string): NodeSource & { keep(hash: string, node: TreeNode): void } {
  const known = new Map<string, TreeNode>();
  let bytes = 0;
  const forget = (hash: string): void => {
    const node = known.get(hash);
    if (node !== undefined && known.delete(hash)) bytes -= bytesOf(node);
  };
  const keep = (hash: string, node: TreeNode): void => {
    forget(hash);
    known.set(hash, node);
    bytes += bytesOf(node);
    for (const oldest of known.keys()) {
      if (known.size <= maxNodes && bytes <= maxNodeBytes) break;
      forget(oldest);
    }
  };
  return {
    keep,
    async load(hash) {
      const there = known.get(hash);
      if (there !== undefined) {
        keep(hash, there);
        return there;
      }
      const found = await store.get(collectedKeys.node(name, hash));
      const text = found.kind === "found" ? new TextDecoder().decode(found.bytes) : undefined;
      const node = text !== undefined && sha256(text) === hash ? readNode(text) : undefined;
      if (node === undefined)
        throw new IncompleteSource(
          `source ${name} lacks some of its collected objects; restart its collector, which writes them again`,
        );
      keep(hash, node);
      return node;
    },
  };
}

/** Reads a collected source as it is now, or as it was in a version. @returns undefined where no collector has filled it */
export type CollectedReader = (version?: string) => Promise<CollectedShard | undefined>;

/** A reader that remembers what it read, so that the next time only what changed is read. */
export function createCollectedReader(store: ObjectStore, name: string): CollectedReader {
  const nodes = nodesOf(store, name);
  let last: CollectedObjects = { root: "", bytes: 0, objects: new Map(), kept: new Map() };
  return async (version) => {
    const read = await readHeadOf(store, name, version);
    if (read === undefined) return undefined;
    const { head, text } = read;
    // Another reading may end while this one waits: each goes on from what it began with.
    const before = last;
    const now = head.root === before.root ? before : await changedTo({ name, nodes }, before, head.root);
    last = now;
    return {
      name,
      version: sha256(text),
      about: head.about,
      objects: now.objects,
      ...(now.kept.size === 0 ? {} : { kept: now.kept }),
      ...(head.isMeantEmpty ? { isMeantEmpty: true } : {}),
    };
  };
}

interface CollectedObjects {
  /** Of the tree that names them. */
  readonly root: string;
  /** Of its entries. */
  readonly bytes: number;
  readonly objects: ReadonlyMap<string, OriginObject>;
  readonly kept: ReadonlyMap<string, OriginObject>;
}

/** What two trees of a source may come to, with their branches. */
const boundsOfTwo: SourceBounds = { maxObjects: 2 * sourceBounds.maxObjects, maxBytes: 3 * sourceBounds.maxBytes };

/**
 * Nodes of two trees that are compared: those of each are read once, wherever they are named.
 *
 * @throws UnreadableSource for what no collector has written
 */
function twoTrees(name: string, nodes: NodeSource): NodeSource {
  const spend = createSpend(name, boundsOfTwo);
  const loads = new Map<string, number>();
  return {
    async load(hash) {
      const times = (loads.get(hash) ?? 0) + 1;
      loads.set(hash, times);
      if (times > 2) throw new UnreadableSource(`source ${name} has a node that its tree names more than once`);
      const node = await nodes.load(hash);
      await spend(node.kind === "leaf" ? node.entries.length : 0, bytesOf(node));
      return node;
    },
  };
}

/** What did not change is the same object. */
async function changedTo(
  { name, nodes }: { readonly name: string; readonly nodes: NodeSource },
  before: CollectedObjects,
  root: string,
): Promise<CollectedObjects> {
  const objects = new Map(before.objects);
  const kept = new Map(before.kept);
  const differences = await diffTrees(twoTrees(name, nodes), before.root, root);
  const lengthOf = (key: string, entry: string | undefined): number =>
    entry === undefined ? 0 : key.length + entry.length;
  const bytes = differences.reduce(
    (sum, { key, before: old, after }) => sum + lengthOf(key, after) - lengthOf(key, old),
    before.bytes,
  );
  refuseLarge(name, 0, bytes, sourceBounds);
  const spend = createSpend(name, boundsOfTwo);
  for (const { key: inTree, after } of differences) {
    await spend(1, after?.length ?? 0);
    const list = isKeptKey(inTree) ? kept : objects;
    const key = isKeptKey(inTree) ? inTree.slice(keptPrefix.length) : inTree;
    if (after === undefined) list.delete(key);
    else list.set(key, objectOf(name, key, after));
  }
  refuseLarge(name, objects.size + kept.size, 0, sourceBounds);
  return { root, bytes, objects, kept };
}

function objectOf(source: string, key: string, entry: string): OriginObject {
  const { version, json } = splitEntry(entry);
  const object = jsonIn(json);
  if (!isFields(object)) throw new UnreadableSource(`source ${source} holds ${key}, which is no JSON object`);
  return { key, version, object };
}

/**
 * Hashes of all nodes below some roots.
 *
 * @returns undefined when one of them is missing or damaged, and may name others
 */
export async function nodesNamedBy(
  store: ObjectStore,
  name: string,
  roots: ReadonlySet<string>,
): Promise<ReadonlySet<string> | undefined> {
  const nodes = nodesOf(store, name);
  const named = new Set<string>();
  let level: readonly string[] = [...roots];
  try {
    while (level.length > 0) {
      for (const hash of level) named.add(hash);
      const below = await inParallel(level, async (hash) => {
        const node = await nodes.load(hash);
        return node.kind === "branch" ? node.children : [];
      });
      level = [...new Set(below.flat())].filter((hash) => hash !== "" && !named.has(hash));
    }
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    return undefined;
  }
  return named;
}
