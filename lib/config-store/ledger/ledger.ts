import { PortolanError } from "../../base/diagnostic.ts";
import { canonicalJson, sha256 } from "../../config/canonical-json.ts";
import type { LedgerStore } from "./ledger-port.ts";
import {
  changeTree,
  diffTrees,
  encodeNode,
  findInTree,
  listTree,
  readNode,
  type TreeDifference,
  type TreeEntry,
  type TreeNode,
} from "./merkle-tree.ts";

/** One write to a ledger. */
export interface Commit {
  /** Counts the writes, from 1. */
  readonly revision: number;
  /** The version that it made. */
  readonly root: string;
  /** Hash of the commit before; "" for the first. */
  readonly parent: string;
  readonly author: string;
  readonly message: string;
  readonly timeMs: number;
  /** Keys that it wrote or removed, sorted. */
  readonly keys: readonly string[];
}

/** The present of a ledger. */
export interface LedgerHead {
  /** "" for an empty ledger. */
  readonly root: string;
  readonly revision: number;
  /** Hash of the last commit, "" before the first. */
  readonly commit: string;
}

/** A new content of a key, or its end, and what must be true for it. */
export interface LedgerChange {
  readonly key: string;
  /** undefined removes the key. */
  readonly text: string | undefined;
  /**
   * What must lie there at the moment of the write: the hash of a text, `undefined` for nothing; `present`: any text; absent: whatever
   * there is.
   */
  readonly expected?: { readonly hash: string | undefined } | "present";
}

type HashedChange = LedgerChange & { readonly hash: string | undefined };

export interface CommitInfo {
  readonly author: string;
  readonly message: string;
  readonly timeMs: number;
}

export type LedgerResult =
  | { readonly kind: "written"; readonly head: LedgerHead }
  /** Some key was not as expected; nothing was written. `winner` is the last commit that touched it, if it is near. */
  | {
      readonly kind: "conflict";
      readonly key: string;
      readonly current: string | undefined;
      readonly winner: Commit | undefined;
    };

/** What a key held in some version. */
export interface LedgerText {
  readonly hash: string;
  readonly text: string;
}

/**
 * Texts by key with all of their history: content-addressed blobs, a Merkle tree over key → hash of text, a chain of
 * commits, and a head that moves by compare-and-swap, last. A write that breaks off leaves the old head, and with it the
 * old version, whole; a writer that loses the race starts over from the new head, so no update is lost.
 */
export interface Ledger {
  head(): Promise<LedgerHead>;
  /** @throws PortolanError when the store fails, or the race is lost too often */
  write(changes: readonly LedgerChange[], info: CommitInfo): Promise<LedgerResult>;
  /** Reads a key in any version that was ever the head. */
  get(root: string, key: string): Promise<LedgerText | undefined>;
  text(hash: string): Promise<string>;
  /** Keys and hashes of a version, sorted by key. */
  list(root: string): Promise<readonly TreeEntry[]>;
  /** In time proportional to what differs. */
  diff(before: string, after: string): Promise<readonly TreeDifference[]>;
  /** Commits from the newest back. */
  history(limit: number): Promise<readonly Commit[]>;
}

const maxAttempts = 10_000;
const searchedCommits = 200;
const cachedNodes = 4096;
const emptyHead: LedgerHead = { root: "", revision: 0, commit: "" };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Reads what this module wrote: commits are addressed by their own checksum, and the head names them. */
function parse<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw foreign(cause);
  }
}

function nodeIn(text: string): TreeNode {
  const node = readNode(text);
  if (node === undefined) throw foreign();
  return node;
}

const foreign = (cause?: unknown) => new PortolanError("the ledger holds something that is none of its own", [], cause);

/** Waits before another attempt: longer after each lost race, and never as long as the others do. */
function spreadPause(lostRaces: number): Promise<void> {
  const mostMs = Math.min(2 ** lostRaces, 64);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * mostMs));
}

/**
 * @param prefix where the ledger lies in the store, without a final slash
 * @param pause what a writer does after it lost the race for the head
 */
export function openLedger(store: LedgerStore, prefix: string, pause = spreadPause): Ledger {
  const nodeKey = (hash: string) => `${prefix}/nodes/${hash}`;
  const blobKey = (hash: string) => `${prefix}/blobs/${hash}`;
  const commitKey = (hash: string) => `${prefix}/commits/${hash}`;
  const headKey = `${prefix}/head`;

  const read = async (key: string): Promise<string> => {
    const found = await store.get(key);
    if (found.kind !== "found") throw new PortolanError(`the ledger lacks ${key}`);
    return decoder.decode(found.bytes);
  };
  /** Content-addressed objects never change, so one that is there is as good as written. */
  const keep = async (key: string, text: string): Promise<void> => {
    await store.put(key, encoder.encode(text), { ifNoneMatch: "*" });
  };
  // Content-addressed nodes never change; the ones near the root are read by every call.
  const cached = new Map<string, TreeNode>();
  const remember = (hash: string, node: TreeNode): TreeNode => {
    const [oldest] = cached.keys();
    if (cached.size >= cachedNodes && oldest !== undefined) cached.delete(oldest);
    cached.set(hash, node);
    return node;
  };
  const nodes = {
    load: async (hash: string) => cached.get(hash) ?? remember(hash, nodeIn(await read(nodeKey(hash)))),
  };
  const commitOf = async (hash: string) => parse<Commit>(await read(commitKey(hash)));

  const readHead = async (): Promise<{ readonly head: LedgerHead; readonly etag: string | undefined }> => {
    const found = await store.get(headKey);
    if (found.kind !== "found") return { head: emptyHead, etag: undefined };
    return { head: parse<LedgerHead>(decoder.decode(found.bytes)), etag: found.etag };
  };

  async function* commits(from: string): AsyncGenerator<Commit> {
    for (let hash = from; hash !== ""; ) {
      const commit = await commitOf(hash);
      yield commit;
      hash = commit.parent;
    }
  }

  const lastTouch = async (head: LedgerHead, key: string): Promise<Commit | undefined> => {
    let searched = 0;
    for await (const commit of commits(head.commit)) {
      if (commit.keys.includes(key)) return commit;
      searched++;
      if (searched >= searchedCommits) return undefined;
    }
    return undefined;
  };

  const attempt = async (changes: readonly HashedChange[], info: CommitInfo): Promise<LedgerResult | undefined> => {
    const { head, etag } = await readHead();
    for (const { key, expected } of changes) {
      if (expected === undefined) continue;
      const current = await findInTree(nodes, head.root, key);
      const isAsExpected = expected === "present" ? current !== undefined : current === expected.hash;
      if (!isAsExpected) return { kind: "conflict", key, current, winner: await lastTouch(head, key) };
    }
    const hashes = new Map(changes.map(({ key, hash }) => [key, hash]));
    const tree = await changeTree(nodes, head.root, hashes);
    if (tree.root === head.root) return { kind: "written", head };
    const commit: Commit = {
      revision: head.revision + 1,
      root: tree.root,
      parent: head.commit,
      ...info,
      keys: [...hashes.keys()].sort(),
    };
    const commitText = canonicalJson(commit);
    const next: LedgerHead = { root: tree.root, revision: commit.revision, commit: sha256(commitText) };
    await Promise.all([
      ...[...tree.nodes].map(([hash, node]) => keep(nodeKey(hash), encodeNode(node))),
      keep(commitKey(next.commit), commitText),
    ]);
    const condition = etag === undefined ? ({ ifNoneMatch: "*" } as const) : { ifMatch: etag };
    for (const [hash, node] of tree.nodes) remember(hash, node);
    const moved = await store.put(headKey, encoder.encode(canonicalJson(next)), condition);
    return moved.kind === "stored" ? { kind: "written", head: next } : undefined;
  };

  return {
    head: async () => (await readHead()).head,
    async write(changes, info) {
      const hashed = changes.map((change) => ({
        ...change,
        hash: change.text === undefined ? undefined : sha256(change.text),
      }));
      await Promise.all(
        hashed.map(({ text, hash }) =>
          text === undefined || hash === undefined ? undefined : keep(blobKey(hash), text),
        ),
      );
      for (let tries = 0; tries < maxAttempts; tries++) {
        const result = await attempt(hashed, info);
        if (result !== undefined) return result;
        await pause(tries + 1);
      }
      throw new PortolanError(`the ledger ${prefix} moved ${maxAttempts} times while it was written to`);
    },
    async get(root, key) {
      const hash = await findInTree(nodes, root, key);
      return hash === undefined ? undefined : { hash, text: await read(blobKey(hash)) };
    },
    text: (hash) => read(blobKey(hash)),
    list: (root) => listTree(nodes, root),
    diff: (before, after) => diffTrees(nodes, before, after),
    async history(limit) {
      const found: Commit[] = [];
      const { head } = await readHead();
      for await (const commit of commits(head.commit)) {
        if (found.length >= limit) break;
        found.push(commit);
      }
      return found;
    },
  };
}
