import { byCodePoint } from "../../base/diagnostic.ts";
import { isFields, jsonIn } from "../../base/untyped.ts";
import { canonicalJson, isSha256, sha256 } from "../../config/canonical-json.ts";

/**
 * A Merkle tree over key → hash. Keys are placed by the digits of their own hash, sixteen ways at each level, and a node
 * of few entries is a leaf; so the shape follows from the content alone, and equal contents have one root.
 */
export type TreeNode =
  | { readonly kind: "leaf" /** Sorted by key. */; readonly entries: readonly TreeEntry[] }
  | {
      readonly kind: "branch";
      /** Number of entries below. */
      readonly size: number;
      /** Sixteen hashes of nodes, by digit; "" where nothing is below. */
      readonly children: readonly string[];
    };

export type TreeEntry = readonly [key: string, hash: string];

/** A leaf of more entries is split. */
export const leafSize = 16;

const emptyTree: TreeNode = { kind: "leaf", entries: [] };

/** Where nodes lie; `load` gets any node that `save` was given, here or in a former life. */
export interface NodeSource {
  load(hash: string): Promise<TreeNode>;
}

export function encodeNode(node: TreeNode): string {
  return canonicalJson(node);
}

/** A node as `encodeNode` wrote it. @returns undefined for what is none */
export function readNode(text: string): TreeNode | undefined {
  const json = jsonIn(text);
  if (!isFields(json)) return undefined;
  const { kind, entries, size, children } = json;
  if (kind === "leaf") return isListOf(entries, isEntry) ? { kind, entries } : undefined;
  if (kind !== "branch" || !isCount(size)) return undefined;
  return isListOf(children, isChild) && children.length === 16 ? { kind, size, children } : undefined;
}

const isListOf = <T>(value: unknown, isElement: (element: unknown) => element is T): value is readonly T[] =>
  Array.isArray(value) && value.every(isElement);

const isEntry = (value: unknown): value is TreeEntry =>
  Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "string");

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const isChild = (value: unknown): value is string => value === "" || isSha256(value);

function hashOfNode(node: TreeNode): string {
  return sha256(encodeNode(node));
}

/** New value of a key; undefined removes it. */
export type TreeChanges = ReadonlyMap<string, string | undefined>;

/** The nodes that a change made, by hash; the last of them is the root. */
export interface ChangedTree {
  readonly root: string;
  readonly nodes: ReadonlyMap<string, TreeNode>;
}

/** Applies changes: reads and makes only the nodes on the paths to the changed keys. */
export async function changeTree(source: NodeSource, root: string, changes: TreeChanges): Promise<ChangedTree> {
  const nodes = new Map<string, TreeNode>();
  const digits = new Map<string, string>();
  const digitsOf = (key: string): string => {
    const known = digits.get(key) ?? sha256(key);
    digits.set(key, known);
    return known;
  };
  const placed = [...changes].map(([key, value]) => ({ key, value }));
  const top = await change(root === "" ? emptyTree : await source.load(root), placed, 0);
  return { root: save(top), nodes };

  function save(node: TreeNode): string {
    const hash = hashOfNode(node);
    nodes.set(hash, node);
    return hash;
  }

  async function change(node: TreeNode, here: readonly Placed[], depth: number): Promise<TreeNode> {
    if (node.kind === "leaf") {
      const entries = new Map(node.entries);
      for (const { key, value } of here) {
        if (value === undefined) entries.delete(key);
        else entries.set(key, value);
      }
      return build([...entries], depth);
    }
    const children = [...node.children];
    let removed = 0;
    for (const [digit, below] of Map.groupBy(here, ({ key }) => digitAt(digitsOf(key), depth))) {
      const hash = children[digit] ?? "";
      const before = hash === "" ? emptyTree : await source.load(hash);
      const after = await change(before, below, depth + 1);
      removed += sizeOf(before) - sizeOf(after);
      children[digit] = sizeOf(after) === 0 ? "" : save(after);
    }
    const size = node.size - removed;
    return size > leafSize ? { kind: "branch", size, children } : collapse(children);
  }

  /** A branch that has become small is a leaf again, so that the way there does not show. */
  async function collapse(children: readonly string[]): Promise<TreeNode> {
    const entries: TreeEntry[] = [];
    for (const hash of children) {
      if (hash === "") continue;
      const child = nodes.get(hash) ?? (await source.load(hash));
      if (child.kind === "leaf") entries.push(...child.entries);
    }
    return build(entries, 0);
  }

  function build(entries: readonly TreeEntry[], depth: number): TreeNode {
    if (entries.length <= leafSize) {
      return { kind: "leaf", entries: [...entries].sort(([a], [b]) => byCodePoint(a, b)) };
    }
    const groups = Map.groupBy(entries, ([key]) => digitAt(digitsOf(key), depth));
    const children = Array.from({ length: 16 }, (_, digit) => {
      const below = groups.get(digit);
      return below === undefined ? "" : save(build(below, depth + 1));
    });
    return { kind: "branch", size: entries.length, children };
  }
}

interface Placed {
  readonly key: string;
  readonly value: string | undefined;
}

function digitAt(digits: string, depth: number): number {
  return Number.parseInt(digits.charAt(depth % digits.length), 16);
}

function sizeOf(node: TreeNode): number {
  return node.kind === "leaf" ? node.entries.length : node.size;
}

/** The hash of a key, reading one path. */
export async function findInTree(source: NodeSource, root: string, key: string): Promise<string | undefined> {
  const digits = sha256(key);
  let hash = root;
  for (let depth = 0; hash !== ""; depth++) {
    const node = await source.load(hash);
    if (node.kind === "leaf") return node.entries.find(([other]) => other === key)?.[1];
    hash = node.children[digitAt(digits, depth)] ?? "";
  }
  return undefined;
}

/** Every entry, sorted by key. */
export async function listTree(source: NodeSource, root: string): Promise<readonly TreeEntry[]> {
  const entries: TreeEntry[] = [];
  let level = root === "" ? [] : [root];
  while (level.length > 0) {
    const nodes = await Promise.all(level.map((hash) => source.load(hash)));
    level = nodes.flatMap((node) => (node.kind === "branch" ? node.children.filter((hash) => hash !== "") : []));
    for (const node of nodes) if (node.kind === "leaf") entries.push(...node.entries);
  }
  return entries.sort(([a], [b]) => byCodePoint(a, b));
}

export interface TreeDifference {
  readonly key: string;
  /** undefined: not there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What differs between two trees, sorted by key; reads only nodes that differ. */
export async function diffTrees(source: NodeSource, before: string, after: string): Promise<readonly TreeDifference[]> {
  const differences: TreeDifference[] = [];
  await walk(before, after);
  return differences.sort((a, b) => byCodePoint(a.key, b.key));

  async function walk(left: string, right: string): Promise<void> {
    if (left === right) return;
    const [a, b] = await Promise.all([load(left), load(right)]);
    if (a.kind === "branch" && b.kind === "branch") {
      await Promise.all(a.children.map((child, digit) => walk(child, b.children[digit] ?? "")));
      return;
    }
    const old = new Map(await entriesBelow(a));
    const current = new Map(await entriesBelow(b));
    for (const [key, hash] of old) {
      if (current.get(key) !== hash) differences.push({ key, before: hash, after: current.get(key) });
    }
    for (const [key, hash] of current) if (!old.has(key)) differences.push({ key, before: undefined, after: hash });
  }

  async function load(hash: string): Promise<TreeNode> {
    return hash === "" ? emptyTree : await source.load(hash);
  }

  async function entriesBelow(node: TreeNode): Promise<readonly TreeEntry[]> {
    if (node.kind === "leaf") return node.entries;
    const below = await Promise.all(node.children.map(async (hash) => entriesBelow(await load(hash))));
    return below.flat();
  }
}
