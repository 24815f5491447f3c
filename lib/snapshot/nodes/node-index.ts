import { type Blob, blobOf, jsonBlob } from "../../base/blob.ts";
import { own } from "../../base/classifier.ts";
import { sameElements } from "../../incremental/same-elements.ts";
import type { CompiledNode } from "../compiled.ts";
import type { NodeShard, NodeShardList, NodeShardRef, Root } from "../root.ts";

export interface NodeIndex {
  readonly refs: readonly NodeShardRef[];
  /** Blob that lists them; undefined for few, which the root lists. */
  readonly list: string | undefined;
  readonly blobs: readonly Blob[];
}

/** Key to class id. */
type ClassOfKey = ReadonlyMap<string, string>;

/**
 * What the keys of nodes lead to, by the cluster that the nodes run in: two clusters may have pods of one name. `undefined` has the nodes
 * whose cluster is not known. Of several nodes of a cluster with one key the last one counts.
 */
export function classesByCluster(nodes: readonly CompiledNode[]): ReadonlyMap<string | undefined, ClassOfKey> {
  const clusters = new Map<string | undefined, Map<string, string>>();
  for (const { keys, classId, clusterId } of nodes) {
    const classes = clusters.get(clusterId) ?? new Map<string, string>();
    if (classes.size === 0) clusters.set(clusterId, classes);
    for (const key of keys) classes.set(key, classId);
  }
  return clusters;
}

/** Classes that a key leads to: of a node in that cluster, or of all that have it where no cluster is named. */
export function classesIn({ classes, clusters = {} }: NodeShard, key: string, clusterId?: string): readonly string[] {
  const tables = clusterId === undefined ? Object.values(clusters) : [own(clusters, clusterId)];
  const found = [classes, ...tables.map((table) => table?.classes)].flatMap((table) => own(table ?? {}, key) ?? []);
  return [...new Set(found)];
}

/** The nodes of a shard, one for each key that a cluster has. */
export function nodesIn({ classes = {}, clusters = {} }: NodeShard): readonly CompiledNode[] {
  return [
    ...Object.entries(classes).map(([key, classId]) => ({ keys: [key], classId })),
    ...Object.entries(clusters).flatMap(([clusterId, table]) =>
      Object.entries(table.classes).map(([key, classId]) => ({ keys: [key], classId, clusterId })),
    ),
  ];
}

/** A piece of the index as it was encoded last. */
interface EncodedShard extends ShardEntries {
  readonly ref: NodeShardRef;
  readonly blob: Blob;
}

interface ShardEntries {
  readonly keys: readonly string[];
  /** One for each cluster that has one of the keys, by its id; first the nodes whose cluster is not known. */
  readonly tables: readonly ClusterTable[];
}

interface ClusterTable {
  readonly clusterId: string | undefined;
  /** Of each key; undefined where the cluster has no such node. */
  readonly classIds: readonly (string | undefined)[];
}

/**
 * Encodes node indexes: cut into shards of some hundred keys, at boundaries that depend on the keys alone. What was encoded last is taken where
 * it is the same, since most changes of nodes are of a few.
 */
export function createNodeIndexEncoder(): (nodes: readonly CompiledNode[]) => NodeIndex {
  let last: readonly EncodedShard[] = [];
  return (nodes) => {
    const clusters = [...classesByCluster(nodes)].sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
    const before = new Map(last.map((shard) => [shard.ref.first, shard]));
    last = cutKeys(sortedKeys(keysOfAll(clusters), last)).map((keys) => {
      const [first = ""] = keys;
      const known = before.get(first);
      const tables = tablesOf(keys, clusters);
      if (known !== undefined && sameElements(known.keys, keys) && sameElements(known.tables, tables, isSameTable))
        return known;
      const blob = blobOf(shardText({ keys, tables }));
      return { keys, tables, ref: { hash: blob.hash, first }, blob };
    });
    const refs = last.map(({ ref }) => ref);
    const blobs = last.map(({ blob }) => blob);
    if (refs.length <= mostInRoot) return { refs, list: undefined, blobs };
    const list = jsonBlob({ shards: refs } satisfies NodeShardList);
    return { refs, list: list.hash, blobs: [list, ...blobs] };
  };
}

type Clusters = readonly (readonly [clusterId: string | undefined, classes: ClassOfKey])[];

/** What a map of keys and a set of them have in common. */
type Keys = Pick<ReadonlySet<string>, "has" | "size" | "keys">;

function keysOfAll(clusters: Clusters): Keys {
  const [only, ...more] = clusters;
  if (only !== undefined && more.length === 0) return only[1];
  return new Set(clusters.flatMap(([, classes]) => [...classes.keys()]));
}

const tablesOf = (keys: readonly string[], clusters: Clusters): readonly ClusterTable[] =>
  clusters.flatMap(([clusterId, classes]) => {
    const classIds = keys.map((key) => classes.get(key));
    return classIds.every((id) => id === undefined) ? [] : [{ clusterId, classIds }];
  });

const isSameTable = (a: ClusterTable, b: ClusterTable): boolean =>
  a.clusterId === b.clusterId && sameElements(a.classIds, b.classIds);

/** By code point, which is how texts are sorted by themselves: there may be a hundred thousand, of which most were in order before. */
function sortedKeys(all: Keys, last: readonly EncodedShard[]): readonly string[] {
  const kept = last.flatMap(({ keys }) => keys.filter((key) => all.has(key)));
  if (kept.length === all.size) return kept;
  if (kept.length === 0) return [...all.keys()].sort();
  const known = new Set(kept);
  const come = [...all.keys()].filter((key) => !known.has(key)).sort();
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
function shardText({ keys, tables }: ShardEntries): string {
  const textOf = ({ classIds }: ClusterTable) => {
    const pairs = keys.flatMap((key, at) => {
      const id = classIds[at];
      return id === undefined ? [] : [`${JSON.stringify(key)}:${JSON.stringify(id)}`];
    });
    return `"classes":{${pairs.join()}}`;
  };
  const unknown = tables.filter(({ clusterId }) => clusterId === undefined).map(textOf);
  const known = tables.flatMap((table) =>
    table.clusterId === undefined ? [] : [`${JSON.stringify(table.clusterId)}:{${textOf(table)}}`],
  );
  return `{${[...unknown, ...(known.length === 0 ? [] : [`"clusters":{${known.join()}}`])].join()}}`;
}

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
