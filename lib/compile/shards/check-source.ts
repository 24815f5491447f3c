import { isFields, jsonIn } from "../../config/untyped.ts";
import type { TreeNode } from "../../config-store/ledger/merkle-tree.ts";
import { splitEntry } from "../../registry/packed-object.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import { listHashed } from "../../storage/list-hashed.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { nodesOf } from "../collected/collected-shard.ts";
import { readShardHead } from "../collected/shard-head.ts";
import { openList } from "./open-list.ts";
import type { ShardList } from "./shard-list.ts";
import { fileKey, lacksRun, notAList, readText } from "./source-shard.ts";
import { UnreadableSource } from "./unreadable-source.ts";

/** A source's list or head, as it is or is to become, and as it was when it was readable last. */
export interface SourceChange {
  readonly name: string;
  readonly text: string;
  /** What this names, too, is not looked at again. Absent: everything is. */
  readonly before?: string | undefined;
}

/**
 * What a source's list names is in the store.
 *
 * @returns the list
 * @throws UnreadableSource that says what is wrong
 */
export async function checkList(store: ObjectStore, { name, text, before }: SourceChange): Promise<ShardList> {
  const open = (listText: string) => openList(listText, (hash) => readText(store, name, hash));
  const list = await open(text);
  if (list === undefined) throw new UnreadableSource(notAList(name));
  if (list.lost !== undefined) throw new UnreadableSource(lacksRun(name));
  const earlier = before === undefined ? undefined : await open(before);
  const known = new Set([...(earlier?.list.files ?? []), ...(earlier?.list.kept ?? [])].map(({ hash }) => hash));
  const came = new Map(
    [...list.list.files, ...list.list.kept].flatMap(({ hash, file }) => (known.has(hash) ? [] : [[hash, file]])),
  );
  const absent = await absentOf(store, name, came);
  const [first] = absent;
  if (first === undefined) return list.list;
  const others = absent.length === 1 ? "" : ` and of ${absent.length - 1} more`;
  throw new UnreadableSource(`source ${name} lacks the content of ${first.slice(0, 200)}${others}; fill it again`);
}

/** Fewer are read one by one: that takes no longer than a list. */
const worthListing = 32;

/** @param files their names, by hash @returns names of those that are not in the store */
async function absentOf(
  store: ObjectStore,
  name: string,
  files: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const absent = new Map(files);
  if (files.size < worthListing) {
    await inParallel(files.keys(), async (hash) => {
      if ((await readText(store, name, hash)) !== undefined) absent.delete(hash);
    });
  } else {
    const folder = fileKey(name, "");
    await listHashed(store, folder, ({ key }) => absent.delete(key.slice(folder.length)) || true);
  }
  return [...absent.values()];
}

/** What a tree may be, for who does not trust its writer. */
export interface TreeBounds {
  /** Sizes have to add up, and every node to hold something: otherwise a few nodes that name each other could stand for millions of objects. */
  readonly maxObjects: number;
}

/**
 * What the head of a collected source leads to is in the store, and is objects. Reads the nodes that differ from those of before, and, with
 * bounds, the ones next to them.
 *
 * @param bounds absent: any tree that can be read is taken
 * @throws UnreadableSource that says what is wrong
 */
export async function checkHead(
  store: ObjectStore,
  { name, text, before }: SourceChange,
  bounds?: TreeBounds,
): Promise<void> {
  const head = readShardHead(text);
  if (head === undefined) throw new UnreadableSource(`source ${name} is nothing that a collector has written`);
  const nodes = nodesOf(store, name);
  const load = (hash: string): Promise<TreeNode> =>
    hash === "" ? Promise.resolve({ kind: "leaf", entries: [] }) : nodes.load(hash);
  /** A tree of before may be gone, and then nothing of it is known. */
  const loadEarlier = (hash: string): Promise<TreeNode> =>
    load(hash).catch((cause: unknown) => {
      if (cause instanceof UnreadableSource) return load("");
      throw cause;
    });

  async function check(hash: string, earlierHash: string, depth: number): Promise<void> {
    if (hash === earlierHash) return;
    const [node, earlier] = await Promise.all([load(hash), loadEarlier(earlierHash)]);
    if (node.kind === "leaf") return checkEntries(name, node);
    if (bounds !== undefined) checkBranch(name, node, await Promise.all(node.children.map(load)), depth, bounds);
    const same = earlier.kind === "branch" ? earlier.children : [];
    for (const [digit, child] of node.children.entries()) await check(child, same[digit] ?? "", depth + 1);
  }
  await check(head.root, before === undefined ? "" : (readShardHead(before)?.root ?? ""), 0);
}

const sizeOf = (node: TreeNode): number => (node.kind === "leaf" ? node.entries.length : node.size);

/** Keys are placed by the digits of a SHA-256. */
const maxDepth = 64;

type Branch = Extract<TreeNode, { readonly kind: "branch" }>;

function checkBranch(
  name: string,
  { size, children }: Branch,
  below: readonly TreeNode[],
  depth: number,
  { maxObjects }: TreeBounds,
): void {
  if (size > maxObjects)
    throw new UnreadableSource(`source ${name} holds ${size} objects, and may hold ${maxObjects}: split it`);
  const isCounted = below.reduce((sum, child) => sum + sizeOf(child), 0) === size;
  const isHollow = below.some((child, digit) => children[digit] !== "" && sizeOf(child) === 0);
  if (!isCounted || isHollow || depth >= maxDepth)
    throw new UnreadableSource(`source ${name} has a node of ${size} objects that no collector has written`);
}

function checkEntries(name: string, { entries }: Extract<TreeNode, { readonly kind: "leaf" }>): void {
  for (const [key, entry] of entries) {
    if (!isFields(jsonIn(splitEntry(entry).json)))
      throw new UnreadableSource(`source ${name} holds ${key.slice(0, 200)}, which is no JSON object`);
  }
}
