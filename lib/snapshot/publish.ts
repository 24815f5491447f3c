import { PortolanError } from "../config/diagnostic.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { blobKey } from "./blob.ts";
import { createWorldCheck } from "./check-world.ts";
import type { CompiledWorld } from "./compiled.ts";
import { createTreeEncoder } from "./encode-tree.ts";
import { type EncodedWorld, encodeWorld } from "./encode-world.ts";
import { rescue } from "./gc-ledger.ts";
import { type ReadHead, readHead } from "./head.ts";
import { moveHead } from "./move-head.ts";
import { restoreWorld } from "./restore-world.ts";
import type { Head, PublicationReason, Step } from "./root.ts";
import { type Signer, signRoot } from "./signatures.ts";
import { createSnapshotReader } from "./snapshot-reader.ts";
import { defaultPace, type Pace, type PlannedStep, planSteps } from "./steps.ts";

export type PublishResult =
  | {
      readonly kind: "published";
      readonly head: Head;
      /** Hash of the root that the steps lead to. */
      readonly root: string;
      readonly written: { readonly objects: number; readonly bytes: number };
    }
  /** HEAD leads to this very root already. */
  | { readonly kind: "unchanged"; readonly head: Head; readonly root: string }
  /** Somebody else moved HEAD since `base` was read: read the sources again and compile anew. */
  | { readonly kind: "lost" };

/** Writes snapshots into one store. Keeps in memory what the next publish will compare with. */
export interface Publisher {
  /** HEAD now; to be read before the sources that are compiled from, so that a newer world is never overwritten. */
  head(): Promise<ReadHead | undefined>;
  /**
   * Writes blobs, then roots, then HEAD. A reader sees all of it or nothing.
   *
   * @param base what `head` gave before the world was read
   * @throws PortolanError when the world is not whole; see `createWorldCheck`
   */
  publish(world: CompiledWorld, base: ReadHead | undefined, reason?: PublicationReason): Promise<PublishResult>;
  /** Writes a world's blobs without making HEAD name them: for a canary. @returns hash of its root */
  stage(world: CompiledWorld): Promise<string>;
}

export interface PublisherOptions {
  readonly pace?: Pace;
  readonly now?: () => number;
  /** Signs every root that HEAD comes to name. */
  readonly signer?: Signer;
}

interface Remembered {
  readonly world: CompiledWorld;
  readonly blobs: ReadonlySet<string>;
}

export function createPublisher(store: ObjectStore, options: PublisherOptions = {}): Publisher {
  const now = options.now ?? Date.now;
  const pace = options.pace ?? defaultPace;
  const encodeTree = createTreeEncoder();
  const reader = createSnapshotReader(store);
  /** Worlds of the roots that HEAD named last, as far as this publisher made or read them. */
  let worlds: ReadonlyMap<string, Remembered> = new Map();

  async function worldOf(root: string, like: { world: CompiledWorld; encoded: EncodedWorld }): Promise<Remembered> {
    return worlds.get(root) ?? restoreWorld(reader, root, like);
  }

  const check = createWorldCheck();

  return {
    head: () => readHead(store),
    async stage(world) {
      const encoded = encodeWorld(world, encodeTree);
      await writeBlobs(store, [encoded], new Set());
      if (options.signer !== undefined) await signRoot(store, options.signer, encoded.rootBlob.hash);
      return encoded.rootBlob.hash;
    },
    async publish(world, base, reason = "publish") {
      const problems = check(world);
      if (problems.length > 0) throw new PortolanError(`the compiled world is not whole: ${firstOf(problems)}`);
      const encoded = encodeWorld(world, encodeTree);
      const root = encoded.rootBlob.hash;
      if (base !== undefined && base.head.steps.at(-1)?.root === root)
        return { kind: "unchanged", head: base.head, root };

      const nowMs = now();
      const like = { world, encoded };
      const earlier = new Map<string, Remembered>();
      for (const { root: hash } of base === undefined ? [] : stepsFrom(base.head, nowMs)) {
        earlier.set(hash, await worldOf(hash, like));
      }
      const planned = plan(base, earlier, world, nowMs, pace);
      const encodedSteps = planned.map((step) =>
        step.world === world ? encoded : encodeWorld(step.world, encodeTree),
      );

      const there = new Set([...earlier].flatMap(([hash, { blobs }]) => [hash, ...blobs]));
      const written = await writeBlobs(store, encodedSteps, there);
      const steps = encodedSteps.map((step, i) => ({
        root: step.rootBlob.hash,
        at: new Date(planned[i]?.atMs ?? nowMs).toISOString(),
      }));
      if (options.signer !== undefined) for (const { root: step } of steps) await signRoot(store, options.signer, step);
      const canary = reason === "promote" ? undefined : base?.head.canary;
      const moved = await moveHead(store, base, { steps, canary, reason }, now());
      if (moved === undefined) return { kind: "lost" };

      worlds = new Map(
        encodedSteps.map((step, i) => [
          step.rootBlob.hash,
          { world: planned[i]?.world ?? world, blobs: new Set([...step.blobs()].map(({ hash }) => hash)) },
        ]),
      );
      return {
        kind: "published",
        head: moved.head,
        root,
        written: { objects: written.objects + 2, bytes: written.bytes + moved.bytes },
      };
    },
  };
}

function firstOf(problems: readonly string[]): string {
  const more = problems.length > 5 ? `; and ${problems.length - 5} more` : "";
  return problems.slice(0, 5).join("; ") + more;
}

/** The step in force and those that are still to come. */
function stepsFrom(head: Head, nowMs: number): readonly Step[] {
  const served = head.steps.findLastIndex(({ at }) => Date.parse(at) <= nowMs);
  return head.steps.slice(Math.max(served, 0));
}

function plan(
  base: ReadHead | undefined,
  earlier: ReadonlyMap<string, Remembered>,
  target: CompiledWorld,
  nowMs: number,
  pace: Pace,
): readonly PlannedStep[] {
  if (base === undefined) return [{ world: target, atMs: nowMs }];
  const [served, ...pending] = stepsFrom(base.head, nowMs).flatMap(({ root, at }) => {
    const remembered = earlier.get(root);
    return remembered === undefined ? [] : [{ world: remembered.world, atMs: Date.parse(at) }];
  });
  if (served === undefined) return [{ world: target, atMs: nowMs }];
  return planSteps(served.world, pending, target, nowMs, pace);
}

const parallelWrites = 16;

/**
 * Writes what is not `there` yet: content first, roots last. What turns out to be in the store already is kept from being
 * collected.
 */
async function writeBlobs(
  store: ObjectStore,
  worlds: readonly EncodedWorld[],
  there: ReadonlySet<string>,
): Promise<{ readonly objects: number; readonly bytes: number }> {
  const missing = new Map<string, () => Uint8Array<ArrayBuffer>>();
  for (const { hash, make } of worlds.flatMap((world) => [...world.blobs()])) {
    if (!there.has(hash)) missing.set(hash, make);
  }
  for (const { rootBlob } of worlds) if (!there.has(rootBlob.hash)) missing.set(rootBlob.hash, () => rootBlob.bytes);
  const isRoot = new Set(worlds.map(({ rootBlob }) => rootBlob.hash));
  const content = [...missing.keys()].filter((hash) => !isRoot.has(hash));
  const roots = [...missing.keys()].filter((hash) => isRoot.has(hash));

  const found = new Set<string>();
  let objects = 0;
  let bytes = 0;
  const write = async (hash: string) => {
    const blob = missing.get(hash)?.() ?? new Uint8Array();
    const put = await store.put(blobKey(hash), blob, { ifNoneMatch: "*" });
    if (put.kind === "lost") {
      found.add(hash);
      return;
    }
    objects += 1;
    bytes += blob.length;
  };
  await inParallel(content, write);
  for (const hash of roots) await write(hash);
  if (found.size > 0) await inParallel(await rescue(store, found), write);
  return { objects, bytes };
}

async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  // One iterator, several takers.
  const queue = items.values();
  await Promise.all(
    Array.from({ length: parallelWrites }, async () => {
      for (const item of queue) await act(item);
    }),
  );
}
