import { isFields, jsonIn } from "../../base/untyped.ts";
import { sha256 } from "../../config/canonical-json.ts";
import { leafSize, type TreeEntry, type TreeNode } from "../../config-store/ledger/merkle-tree.ts";
import { splitEntry } from "../../registry/origin/packed-object.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import { listHashed } from "../../storage/list-hashed.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { nodesOf } from "../collected/collected-shard.ts";
import { readShardHead } from "../collected/shard-head.ts";
import { openList } from "./lists/open-list.ts";
import type { ShardList } from "./lists/shard-list.ts";
import { createSpend, refuseLarge, type SourceBounds, sourceBounds } from "./source-bounds.ts";
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
export async function checkList(
  store: ObjectStore,
  { name, text, before }: SourceChange,
  bounds: SourceBounds = sourceBounds,
): Promise<ShardList> {
  const open = (listText: string) => openList(listText, runTexts(store, name, bounds));
  const list = await open(text);
  if (list === undefined) throw new UnreadableSource(notAList(name));
  if (list.lost !== undefined) throw new UnreadableSource(lacksRun(name));
  refuseLarge(name, list.list.files.length + list.list.kept.length, 0, bounds);
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

/** Texts of the runs of a list, which are names: they may come to a part of what the files may. */
function runTexts(store: ObjectStore, name: string, bounds: SourceBounds) {
  const spend = createSpend(name, { ...bounds, maxBytes: bounds.maxBytes / 4 });
  return async (hash: string): Promise<string | undefined> => {
    const text = await readText(store, name, hash);
    await spend(0, text?.length ?? 0);
    return text;
  };
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

/**
 * What the head of a collected source leads to is in the store, is objects, and is a tree that a collector may have written. Reads the nodes
 * that differ from those of before, each once, and the ones next to them.
 *
 * @returns bytes of text of what differs, of all where nothing is known of before
 * @throws UnreadableSource that says what is wrong
 */
export async function checkHead(
  store: ObjectStore,
  { name, text, before }: SourceChange,
  bounds: SourceBounds = sourceBounds,
): Promise<number> {
  const head = readShardHead(text);
  if (head === undefined) throw new UnreadableSource(`source ${name} is nothing that a collector has written`);
  const nodes = nodesOf(store, name);
  const spend = createSpend(name, bounds);
  let bytes = 0;
  /** A tree of before may be gone, and then nothing of it is known. */
  const earlierChildren = async (hash: string): Promise<readonly string[]> => {
    if (hash === "") return [];
    const node = await nodes.load(hash).catch((cause: unknown) => {
      if (cause instanceof UnreadableSource) return undefined;
      throw cause;
    });
    return node?.kind === "branch" ? node.children : [];
  };
  const misshapen = (size: number) =>
    new UnreadableSource(`source ${name} has a node of ${size} objects that no collector has written`);

  /**
   * @param place digits that the hashes of all keys below begin with. So no node can be in two places, and sizes that add up are those of
   * objects: otherwise a few nodes that name each other could stand for millions.
   * @returns how many objects are below
   */
  async function check(hash: string, earlierHash: string, place: string): Promise<number> {
    const node = await nodes.load(hash);
    if (hash === earlierHash) return sizeOf(node);
    const size = sizeOf(node);
    refuseLarge(name, size, 0, bounds);
    if (node.kind === "leaf") {
      if (size > leafSize) throw misshapen(size);
      for (const entry of node.entries) {
        const length = entry[0].length + entry[1].length;
        bytes += length;
        await spend(1, length);
        if (!sha256(entry[0]).startsWith(place)) throw misshapen(size);
        checkEntry(name, entry);
      }
      return size;
    }
    if (place.length >= maxDepth) throw misshapen(size);
    const same = await earlierChildren(earlierHash);
    let below = 0;
    for (const [digit, child] of node.children.entries()) {
      if (child === "") continue;
      const count = await check(child, same[digit] ?? "", place + digit.toString(16));
      below += count;
      if (count === 0 || below > size) throw misshapen(size);
    }
    if (below !== size) throw misshapen(size);
    return size;
  }
  await check(head.root, before === undefined ? "" : (readShardHead(before)?.root ?? ""), "");
  return bytes;
}

const sizeOf = (node: TreeNode): number => (node.kind === "leaf" ? node.entries.length : node.size);

/** Keys are placed by the digits of a SHA-256. */
const maxDepth = 64;

function checkEntry(name: string, [key, entry]: TreeEntry): void {
  if (!isFields(jsonIn(splitEntry(entry).json)))
    throw new UnreadableSource(`source ${name} holds ${key.slice(0, 200)}, which is no JSON object`);
}
