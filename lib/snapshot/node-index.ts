import { sameElements } from "../config/same-elements.ts";
import { type Blob, blobOf, jsonBlob } from "./blob.ts";
import type { CompiledNode } from "./compiled.ts";
import type { NodeShardList, NodeShardRef, Root } from "./root.ts";

export interface NodeIndex {
  readonly refs: readonly NodeShardRef[];
  /** Blob that lists them; undefined for few, which the root lists. */
  readonly list: string | undefined;
  readonly blobs: readonly Blob[];
}

/** What the keys of nodes lead to. Of several nodes with one key the last one counts. */
export function classesByKey(nodes: readonly CompiledNode[]): ReadonlyMap<string, string> {
  const classes = new Map<string, string>();
  for (const { keys, classId } of nodes) for (const key of keys) classes.set(key, classId);
  return classes;
}

/** A piece of the index as it was encoded last. */
interface EncodedShard extends ShardEntries {
  readonly ref: NodeShardRef;
  readonly blob: Blob;
}

interface ShardEntries {
  readonly keys: readonly string[];
  /** Of each key. */
  readonly classIds: readonly string[];
}

/**
 * Encodes node indexes: cut into shards of some hundred keys, at boundaries that depend on the keys alone. What was encoded last is taken where
 * it is the same, since most changes of nodes are of a few.
 */
export function createNodeIndexEncoder(): (nodes: readonly CompiledNode[]) => NodeIndex {
  let last: readonly EncodedShard[] = [];
  return (nodes) => {
    const classes = classesByKey(nodes);
    const before = new Map(last.map((shard) => [shard.ref.first, shard]));
    last = cutKeys(sortedKeys(classes, last)).map((keys) => {
      const [first = ""] = keys;
      const known = before.get(first);
      const classIds = keys.map((key) => classes.get(key) ?? "");
      if (known !== undefined && sameElements(known.keys, keys) && sameElements(known.classIds, classIds)) return known;
      const blob = blobOf(shardText({ keys, classIds }));
      return { keys, classIds, ref: { hash: blob.hash, first }, blob };
    });
    const refs = last.map(({ ref }) => ref);
    const blobs = last.map(({ blob }) => blob);
    if (refs.length <= mostInRoot) return { refs, list: undefined, blobs };
    const list = jsonBlob({ shards: refs } satisfies NodeShardList);
    return { refs, list: list.hash, blobs: [list, ...blobs] };
  };
}

/** By code point, which is how texts are sorted by themselves: there may be a hundred thousand, of which most were in order before. */
function sortedKeys(classes: ReadonlyMap<string, string>, last: readonly EncodedShard[]): readonly string[] {
  const kept = last.flatMap(({ keys }) => keys.filter((key) => classes.has(key)));
  if (kept.length === classes.size) return kept;
  if (kept.length === 0) return [...classes.keys()].sort();
  const known = new Set(kept);
  const come = [...classes.keys()].filter((key) => !known.has(key)).sort();
  return [...kept, ...come].sort();
}

function cutKeys(keys: readonly string[]): readonly (readonly string[])[] {
  const shards: (readonly string[])[] = [];
  let from = 0;
  for (const [at, key] of keys.entries()) {
    if (!endsShard(key) && at < keys.length - 1) continue;
    shards.push(keys.slice(from, at + 1));
    from = at + 1;
  }
  return shards;
}

/** A root is written at each change, and the nodes are mostly the same; but a list of a few is not worth another read. */
const mostInRoot = 8;

/** A `NodeShard`, with its keys in their order. */
const shardText = ({ keys, classIds }: ShardEntries): string =>
  `{"classes":{${keys.map((key, at) => `${JSON.stringify(key)}:${JSON.stringify(classIds[at])}`).join()}}}`;

/** True for about one key in 256. */
function endsShard(key: string): boolean {
  let hash = 0;
  for (let i = 0; i < key.length; i += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0;
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 24 === 0;
}

/** Blobs of a root's node index. */
export const blobsOfNodes = ({ nodes, nodeList }: Pick<Root, "nodes" | "nodeList">): readonly string[] => [
  ...(nodeList === undefined ? [] : [nodeList]),
  ...nodes.map(({ hash }) => hash),
];

/** The shards in which keys are that begin so. @param beginning ends with `/` */
export function shardsWith(refs: readonly NodeShardRef[], beginning: string): readonly NodeShardRef[] {
  const beyond = `${beginning.slice(0, -1)}0`;
  return refs.filter(({ first }, i) => first < beyond && (refs[i + 1]?.first ?? beyond) > beginning);
}

/** The shard in which a key is, if it is anywhere. */
export function shardFor(refs: readonly NodeShardRef[], key: string): NodeShardRef | undefined {
  return refs.findLast((ref) => ref.first <= key);
}
