import { type Blob, blobOf, jsonBlob } from "./blob.ts";
import type { CompiledNode } from "./compiled.ts";
import type { NodeShardList, NodeShardRef, Root } from "./root.ts";

export interface NodeIndex {
  readonly refs: readonly NodeShardRef[];
  /** Blob that lists them; undefined for few, which the root lists. */
  readonly list: string | undefined;
  readonly blobs: readonly Blob[];
}

/** The node index, cut into shards of some hundred keys at boundaries that depend on the keys alone. */
export function encodeNodeIndex(nodes: readonly CompiledNode[]): NodeIndex {
  const classes = new Map<string, string>();
  for (const node of nodes) for (const key of node.keys) classes.set(key, node.classId);
  const shards: [string, string][][] = [];
  let shard: [string, string][] = [];
  // By code point, which is how texts are sorted by themselves: there may be a hundred thousand.
  for (const key of [...classes.keys()].sort()) {
    shard.push([key, classes.get(key) ?? ""]);
    if (endsShard(key)) {
      shards.push(shard);
      shard = [];
    }
  }
  if (shard.length > 0) shards.push(shard);
  const blobs = shards.map((entries) => blobOf(shardText(entries)));
  const refs = shards.map((entries, i) => ({ hash: blobs[i]?.hash ?? "", first: entries[0]?.[0] ?? "" }));
  if (refs.length <= mostInRoot) return { refs, list: undefined, blobs };
  const list = jsonBlob({ shards: refs } satisfies NodeShardList);
  return { refs, list: list.hash, blobs: [list, ...blobs] };
}

/** A root is written at each change, and the nodes are mostly the same; but a list of a few is not worth another read. */
const mostInRoot = 8;

/** A `NodeShard`, with its keys in the order of the entries. */
const shardText = (entries: readonly (readonly [key: string, classId: string])[]): string =>
  `{"classes":{${entries.map(([key, classId]) => `${JSON.stringify(key)}:${JSON.stringify(classId)}`).join()}}}`;

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
