import { PortolanError } from "../../base/diagnostic.ts";
import { createMemo, forget, type Memo } from "../../incremental/memo.ts";
import { eachClass } from "../../mesh/classes/enter-classes.ts";
import type { ProxyViews } from "../../mesh/views/view-columns.ts";
import { blobsIn } from "../../snapshot/blob-groups.ts";
import type { CompiledWorld } from "../../snapshot/compiled.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { resourceTypes } from "../../snapshot/resource-type.ts";
import { readStored, recordOfRoot } from "../../snapshot/reuse/read-stored.ts";
import { createBlobCheck } from "../../snapshot/upkeep/blob-check.ts";
import { createWorldEncoder } from "../../snapshot/worlds/encode-world.ts";
import { writeBlobs } from "../../snapshot/write-blobs.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { units } from "../../xds/units.ts";
import { besideAndClasses, type CountedWorld, compileCounted } from "../compile.ts";
import { countLoaded, createWorldLoader, type LoadedWorld, viewsIn } from "../compile-files.ts";
import { filesWithoutDiagnostics, reusableOf } from "../reuse/open-reusable.ts";
import { type ReusableResults, reusableUnits } from "../reuse/reusable.ts";
import { createSourcesReader } from "../shards/read-sources.ts";
import { refuseRubbish } from "../shards/refuse-empty.ts";
import type { Staged } from "../telemetry/observer.ts";
import { joinSlices } from "./join-slices.ts";
import { planId, reuseKeyOf, type SlicePlan, sourceNamesIn, worldOptionsIn } from "./plan.ts";
import { classesOfSlice, wholeWorld } from "./slice.ts";

export interface MemoryLimitOptions {
  /** Root of the newest publish, of which what still stands is not made again; absent: none. */
  readonly newest?: string | undefined;
  /** Whether all that was made is read again before it is published, which takes far more room. */
  readonly readsAll: boolean;
  readonly staged: Staged;
}

export interface MadeInMemoryLimit {
  readonly world: CompiledWorld;
  /** Blobs that were written of it. */
  readonly prewritten: ReadonlySet<string>;
}

/**
 * Compiles a plan's world where there is little room: an isolate of 128 MB holds the objects of 1,000 services, or the answers that are made
 * of them, and not both. The classes are counted once. Then all that only counting needs is dropped, and the answers are made slice by
 * slice, each of which is written before the next is made. The world that comes of it has parts that lie in the store.
 *
 * @throws PortolanError when a source is no more what the plan says, when the sources hold nothing, and when the store fails
 */
export async function compileInMemoryLimit(
  store: ObjectStore,
  plan: SlicePlan,
  options: MemoryLimitOptions,
): Promise<MadeInMemoryLimit> {
  const { newest, readsAll, staged } = options;
  const key = reuseKeyOf(plan);
  // Only a root that says how it was made says which secrets its parts name.
  const making = { key: key ?? planId(plan), found: key === undefined ? undefined : newest, staged };
  const prewritten = new Set<string>();
  const slices: (CompiledWorld | string)[] = [];
  for await (const { world, isAll } of worldsOf(store, plan, making))
    slices.push(isAll && !readsAll ? world : await write(store, world, prewritten));
  const isLeft = readsAll || prewritten.size === 0 ? undefined : await ifWhole(partsOf(store, newest));
  const { world } = await staged("join", () => joinSlices(store, slices, { isLeft }));
  if (key !== undefined) return { world, prewritten };
  const { made: _ofThePlan, ...beside } = world;
  return { world: beside, prewritten };
}

interface Making {
  /** By which a later compile knows what comes of this one. */
  readonly key: string;
  /** A root of which something may stand; absent: none. */
  readonly found: string | undefined;
  readonly staged: Staged;
}

interface MadeWorld {
  readonly world: CompiledWorld;
  /** It has all classes, and nothing follows. */
  readonly isAll: boolean;
}

/**
 * What belongs to no class, then slice after slice of the classes. Each is made when it is asked for. Where little is to be made of all, it is
 * one world.
 */
async function* worldsOf(store: ObjectStore, plan: SlicePlan, making: Making): AsyncGenerator<MadeWorld, void> {
  const { key, found, staged } = making;
  const memo = createMemo();
  const { counted, before } = await count(store, plan, { ...making, memo });
  forget(memo);
  const stored = found === undefined || before === undefined ? undefined : await ifWhole(readStored(store, found, key));
  const reusable = stored === undefined || before === undefined ? undefined : reusableOf(stored, before);
  const reuse = { key, reusable };
  const make = (part: CountedWorld): CompiledWorld => compileCounted(part, createMemo(), staged, reuse).value;
  const { of } = plan;
  if (Math.round(of * shareToMake(counted, reusable)) <= 1) {
    yield { world: make(counted), isAll: true };
    return;
  }
  const [beside, classes] = besideAndClasses(counted);
  yield { world: make(beside), isAll: false };
  for (let index = 0; index < of; index += 1) {
    // Views make something when they are asked, and remember it here.
    forget(memo);
    const slice = { ...classes, classes: classesOfSlice(classes.classes, { index, of }, createMemo()) };
    yield { world: make(slice), isAll: false };
  }
}

/** Which part of all answers does not stand, from 0 to 1. */
function shareToMake({ classes }: CountedWorld, reusable: ReusableResults | undefined): number {
  if (reusable === undefined || classes.ids.length === 0) return 1;
  const stand = eachClass(classes).map(({ id, views }) => {
    const before = reusable.classes.get(id);
    return before === undefined ? 0 : reusableUnits(views, before).length;
  });
  return 1 - stand.reduce((sum, count) => sum + count, 0) / (units.length * classes.ids.length);
}

/** @returns undefined for what is missing or damaged: it would save work, and nothing else depends on it */
async function ifWhole<T>(reading: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    return undefined;
  }
}

interface Counted {
  readonly counted: CountedWorld;
  /** What the classes of the newest publish were made from, by their ids; absent where that is not known. */
  readonly before: ReadonlyMap<string, ProxyViews> | undefined;
}

async function count(
  store: ObjectStore,
  plan: SlicePlan,
  { memo, ...making }: Making & { readonly memo: Memo },
): Promise<Counted> {
  const { before, now } = await load(store, plan, making);
  // With one memory: a view that has not changed is the same object both times.
  const views = before === undefined ? undefined : viewsIn(before.world.value, memo);
  const counted = countLoaded(now, memo, making.staged, wholeWorld);
  refuseRubbish({ objects: now.objects, diagnostics: counted.diagnostics }, [now]);
  return { counted, before: views };
}

/** A function of its own, so that counting holds nothing of what is read. */
async function load(store: ObjectStore, plan: SlicePlan, { key, found, staged }: Making) {
  const readSources = createSourcesReader(store);
  const loadWorld = createWorldLoader(worldOptionsIn(plan));
  const order = sourceNamesIn(plan);
  const loadBefore = async (root: string): Promise<LoadedWorld | undefined> => {
    const said = await recordOfRoot(createSnapshotReader(store), root, key);
    return said && loadWorld(await readSources(order, said.root.sources), filesWithoutDiagnostics(said));
  };
  const before = found === undefined ? undefined : await ifWhole(loadBefore(found));
  const shards = await staged("read", () => readSources(order, plan.sources));
  return { before, now: staged("world", () => loadWorld(shards)) };
}

/** Writes a slice's world. @param prewritten blobs written so far; this slice's are added @returns its root */
async function write(store: ObjectStore, world: CompiledWorld, prewritten: Set<string>): Promise<string> {
  const encoded = createWorldEncoder().encode(world);
  await writeBlobs(store, createBlobCheck(store), [encoded], { there: [], found: [], prewritten });
  for (const hash of blobsIn([encoded]).keys()) prewritten.add(hash);
  return encoded.rootBlob.hash;
}

/** Which parts a publish need not look into: those that the newest root has too. Without one it looks into none. @throws PortolanError */
async function partsOf(store: ObjectStore, newest: string | undefined): Promise<(key: string) => boolean> {
  if (newest === undefined) return () => true;
  const reader = createSnapshotReader(store);
  const { root } = await reader.root(newest);
  const tables = await Promise.all(resourceTypes.map((type) => reader.table(root, type)));
  const keys = new Set(tables.flatMap(({ parts }) => parts.map(({ key }) => key)));
  return (key) => keys.has(key);
}
