import type { ObjectStore } from "../storage/object-store.ts";
import { type Blob, blobKey, headKey, jsonBlob } from "./blob.ts";
import type { CompiledWorld } from "./compiled.ts";
import { createTreeEncoder } from "./encode-tree.ts";
import { type EncodedWorld, encodeWorld } from "./encode-world.ts";
import { restoreWorld } from "./restore-world.ts";
import type { Head, Publication, PublicationReason, Step } from "./root.ts";
import { createSnapshotReader, type ReadHead, readHead } from "./snapshot-reader.ts";
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
   */
  publish(world: CompiledWorld, base: ReadHead | undefined): Promise<PublishResult>;
}

export interface PublisherOptions {
  readonly pace?: Pace;
  readonly now?: () => number;
  readonly reason?: PublicationReason;
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

  return {
    head: () => readHead(store),
    async publish(world, base) {
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
      const head = nextHead(base, encodedSteps, planned, nowMs, options.reason ?? "publish");
      await createBlob(store, head.publication);
      const put = await store.put(headKey, new TextEncoder().encode(JSON.stringify(head.head)), conditionFor(base));
      if (put.kind === "lost") return { kind: "lost" };

      worlds = new Map(
        encodedSteps.map((step, i) => [
          step.rootBlob.hash,
          { world: planned[i]?.world ?? world, blobs: new Set([...step.blobs()].map(({ hash }) => hash)) },
        ]),
      );
      return {
        kind: "published",
        head: head.head,
        root,
        written: { objects: written.objects + 2, bytes: written.bytes + head.publication.bytes.length },
      };
    },
  };
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

/** Writes what is not `there` yet: content first, roots last. */
async function writeBlobs(
  store: ObjectStore,
  worlds: readonly EncodedWorld[],
  there: ReadonlySet<string>,
): Promise<{ readonly objects: number; readonly bytes: number }> {
  const done = new Set(there);
  let objects = 0;
  let bytes = 0;
  const write = async (blob: Blob) => {
    if (!(await createBlob(store, blob))) return;
    objects += 1;
    bytes += blob.bytes.length;
  };
  const missing = worlds
    .flatMap((world) => [...world.blobs()])
    .filter(({ hash }) => !done.has(hash) && done.add(hash) !== undefined);
  const queue = missing.values();
  // One iterator, several takers.
  await Promise.all(
    Array.from({ length: parallelWrites }, async () => {
      for (const { hash, make } of queue) await write({ hash, bytes: make() });
    }),
  );
  for (const { rootBlob } of worlds) if (!done.has(rootBlob.hash)) await write(rootBlob);
  return { objects, bytes };
}

/** @returns false when it was there already, which is as good: an equal name means equal bytes */
async function createBlob(store: ObjectStore, blob: Blob): Promise<boolean> {
  return (await store.put(blobKey(blob.hash), blob.bytes, { ifNoneMatch: "*" })).kind === "stored";
}

function nextHead(
  base: ReadHead | undefined,
  worlds: readonly EncodedWorld[],
  planned: readonly PlannedStep[],
  nowMs: number,
  reason: PublicationReason,
): { readonly head: Head; readonly publication: Blob } {
  const generation = (base?.head.generation ?? 0) + 1;
  const publication: Publication = {
    generation,
    root: worlds.at(-1)?.rootBlob.hash ?? "",
    parent: base?.head.publication ?? "",
    at: new Date(nowMs).toISOString(),
    reason,
  };
  const blob = jsonBlob(publication);
  const steps = worlds.map((world, i) => ({
    root: world.rootBlob.hash,
    at: new Date(planned[i]?.atMs ?? nowMs).toISOString(),
  }));
  const canary = base?.head.canary;
  const head = { generation, publication: blob.hash, steps, ...(canary === undefined ? {} : { canary }) };
  return { head, publication: blob };
}

const conditionFor = (base: ReadHead | undefined) =>
  base === undefined ? ({ ifNoneMatch: "*" } as const) : { ifMatch: base.etag };
