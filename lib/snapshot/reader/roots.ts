import type { Classifier } from "../../base/classifier.ts";
import { readRoot } from "../format.ts";
import type { ClassTable, NodeShardList } from "../root.ts";
import { createLoadCache, type LoadCache } from "../worlds/load-cache.ts";
import type { Blobs } from "./blobs.ts";
import type { LoadedRoot } from "./loaded.ts";

/** Of roots, and of what else there is one of each: the current one, the steps around it, a canary. */
const maxKept = 16;

/** The size that counts against a cache's bound, so that it keeps no more than `maxKept` of them, however small they are. */
export const atLeast = (storedBytes: number, maxBytes: number): number => Math.max(storedBytes, maxBytes / maxKept);

/** Roots by hash, each with its classes, classifier and node index. @param maxBytes stored size of those that are kept */
export const createRootCache = ({ text }: Blobs, maxBytes: number): LoadCache<string, LoadedRoot> =>
  createLoadCache({
    nameOf: (hash) => hash,
    maxBytes,
    // However large it is, what is in force is not read for every request.
    keepsLatest: true,
    load: (hash) => loadRoot(text, hash),
    sizeOf: ({ storedBytes }) => atLeast(storedBytes, maxBytes),
  });

async function loadRoot(text: Blobs["text"], hash: string): Promise<LoadedRoot> {
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
}
