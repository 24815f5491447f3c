import { PortolanError } from "../base/diagnostic.ts";
import {
  IncompleteSource,
  isKeptKey,
  nodesOf,
  type ReadShardHead,
  readHeadOf,
} from "../compile/collected/collected-shard.ts";
import {
  areOfDifferentOrigins,
  collectedKeys,
  headText,
  originText,
  type ShardHead,
} from "../compile/collected/shard-head.ts";
import { writeTexts } from "../compile/shards/write-texts.ts";
import { sha256 } from "../config/canonical-json.ts";
import {
  changeTree,
  diffTrees,
  encodeNode,
  findInTree,
  type NodeSource,
  type TreeDifference,
  type TreeNode,
} from "../config-store/ledger/merkle-tree.ts";
import type { OriginAbout } from "../registry/origin/origin.ts";
import { encodeKeyPart, type ObjectStore } from "../storage/object-store.ts";
import { createLastValidForms } from "./last-valid-forms.ts";

/** What a write came to. */
export type ShardWrite =
  | { readonly kind: "written"; readonly version: string; readonly sizeBytes: number }
  /** Somebody else has written: what lies there has to be looked at anew. */
  | { readonly kind: "lost" };

/** Writes one collected source: nodes first, then the head, by compare-and-swap. */
export interface ShardWriter {
  /** Whether what lies in the store is still what was loaded, or written last. @throws PortolanError as `load` does */
  isCurrent(): Promise<boolean>;
  /**
   * Compares entries with what lies in the store, of which no more is read than differs, and writes anew what is missing there of the
   * rest. Last valid forms of objects that are invalid stay. The next write starts from what lies there.
   *
   * @returns what the store has instead, by key; undefined where it has nothing
   * @throws PortolanError where the source is of another origin, or a folder has taken its place
   */
  load(entries: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string | undefined>>;
  /** Whether what was loaded is another origin's, and is taken over from it. */
  isAnothers(): boolean;
  /** @param changes to what was loaded, or written last */
  write(changes: ReadonlyMap<string, string | undefined>, isMeantEmpty: boolean): Promise<ShardWrite>;
}

export interface ShardWriterOptions {
  readonly source: string;
  readonly about: OriginAbout;
  /** Which origin it is, as far as that is known by now. */
  readonly identity: () => string | undefined;
  /** Until the first write a source of another origin is taken. */
  readonly takeOver?: boolean;
  /** The store itself keeps from being collected what a writer finds in place. */
  readonly storeRescues?: boolean;
}

export function createShardWriter(store: ObjectStore, options: ShardWriterOptions): ShardWriter {
  const { source, about, identity, storeRescues = false } = options;
  // Two that take over would take the source from each other for ever.
  let takesOver = options.takeOver === true;
  const nodes = nodesOf(store, source);
  const forms = createLastValidForms(source, about);
  let base: ReadShardHead | undefined;
  let isAnothers = false;
  /** The tree that changes are made to; "" where the one in the store is not there, or not whole. */
  let root = "";

  /** @returns undefined where the tree in the store lacks a part: all of it is to be written anew */
  async function differences(
    stored: string,
    entries: ReadonlyMap<string, string>,
  ): Promise<readonly TreeDifference[] | undefined> {
    // Its shape follows from what it holds: what is equal need not be read.
    const own = await changeTree(nodes, "", entries);
    const shared = new Map(own.nodes);
    const both: NodeSource = {
      async load(hash) {
        // Looked into are only those that differ.
        shared.delete(hash);
        return own.nodes.get(hash) ?? nodes.load(hash);
      },
    };
    let found: readonly TreeDifference[];
    try {
      found = await diffTrees(both, stored, own.root);
    } catch (cause) {
      if (cause instanceof IncompleteSource) return undefined;
      throw cause;
    }
    const prefix = collectedKeys.node(source, "");
    for await (const { key } of store.list(prefix)) shared.delete(key.slice(prefix.length));
    for (const some of inParts([...shared])) await writeTexts(store, textsOf(some), { storeRescues });
    return found;
  }
  const textsOf = (some: readonly (readonly [string, TreeNode])[]): ReadonlyMap<string, string> =>
    new Map(some.map(([hash, node]) => [collectedKeys.node(source, hash), encodeNode(node)]));

  return {
    async isCurrent() {
      const [found] = await Promise.all([store.get(collectedKeys.head(source)), refuseFolder(store, source)]);
      return found.kind === "found" ? found.etag === base?.etag : base === undefined;
    },
    async load(entries) {
      await refuseFolder(store, source);
      const there = await readHeadOf(store, source);
      const own = { about, identity: identity() };
      isAnothers = there !== undefined && areOfDifferentOrigins(there.head, own);
      if (there !== undefined && isAnothers && !takesOver)
        throw new PortolanError(
          `source ${source} is of another origin, ${originText(there.head)}, and this is ${originText(own)}; ` +
            "give this one a source of its own, or say --take-over",
        );
      const different = there === undefined ? undefined : await differences(there.head.root, entries);
      base = there;
      root = different === undefined ? "" : (there?.head.root ?? "");
      forms.load((different ?? []).flatMap(({ key }) => (isKeptKey(key) ? [key] : [])));
      if (different === undefined) return new Map([...entries.keys()].map((key) => [key, undefined]));
      return new Map(different.flatMap(({ key, before }) => (isKeptKey(key) ? [] : [[key, before] as const])));
    },
    isAnothers: () => isAnothers,
    async write(changes, isMeantEmpty) {
      // Without a tree there is no earlier form of anything.
      const all = root === "" ? changes : await forms.with(changes, (key) => findInTree(nodes, root, key));
      const tree = await changeTree(nodes, root, all);
      // An origin that was known better is not forgotten.
      const head: ShardHead = { about, identity: identity() ?? base?.head.identity, root: tree.root, isMeantEmpty };
      const text = headText(head);
      const version = sha256(text);
      if (text === base?.text) return { kind: "written", version, sizeBytes: 0 };
      let sizeBytes = text.length;
      const settling: (() => Promise<void>)[] = [];
      const save = async (texts: ReadonlyMap<string, string>) => {
        settling.push(await writeTexts(store, texts, { storeRescues }));
        for (const written of texts.values()) sizeBytes += Buffer.byteLength(written);
      };
      for (const some of inParts([...tree.nodes])) {
        for (const [hash, node] of some) nodes.keep(hash, node);
        await save(textsOf(some));
      }
      await save(new Map([[collectedKeys.version(source, version), text]]));
      const condition = base === undefined ? ({ ifNoneMatch: "*" } as const) : { ifMatch: base.etag };
      const put = await store.put(collectedKeys.head(source), new TextEncoder().encode(text), condition);
      if (put.kind === "lost") return { kind: "lost" };
      for (const settle of settling) await settle();
      base = { head, text, etag: put.etag };
      ({ root } = tree);
      forms.written(all);
      takesOver = false;
      return { kind: "written", version, sizeBytes };
    },
  };
}

/** A first push has thousands of nodes: as texts they would take as much again as all that is known. */
const nodesAtATime = 256;

function* inParts<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < list.length; from += nodesAtATime) yield list.slice(from, from + nodesAtATime);
}

/** @throws PortolanError where `push` or `apply` has filled the source: it is theirs */
async function refuseFolder(store: ObjectStore, source: string): Promise<void> {
  if ((await store.get(`sources/${encodeKeyPart(source)}/list`)).kind === "absent") return;
  throw new PortolanError(
    `source ${source} is filled by \`push\` or \`apply\`; give the collector a source of its own`,
  );
}
