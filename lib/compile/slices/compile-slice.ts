import { PortolanError } from "../../base/diagnostic.ts";
import { createMemo, forget, type Memo } from "../../incremental/memo.ts";
import { blobsIn } from "../../snapshot/blob-groups.ts";
import type { CompiledWorld } from "../../snapshot/compiled.ts";
import { readHead, rootsOfHead } from "../../snapshot/head/head.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { createBlobCheck } from "../../snapshot/upkeep/blob-check.ts";
import { reachableFrom } from "../../snapshot/upkeep/reachable.ts";
import { createWorldEncoder, type WorldEncoder } from "../../snapshot/worlds/encode-world.ts";
import { writeBlobs } from "../../snapshot/write-blobs.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { compileCounted, compilerVersion } from "../compile.ts";
import {
  countLoaded,
  createShardCompiler,
  type FilesCompiled,
  type LoadedWorld,
  loadWorld,
  type ShardCompiler,
} from "../compile-files.ts";
import { createSourcesReader } from "../shards/read-sources.ts";
import { refuseRubbish } from "../shards/refuse-empty.ts";
import { type Staged, unwatched } from "../telemetry/observer.ts";
import { planId, reuseKeyOf, type SliceJob, type SlicePlan, sliceText, sourceNamesIn, worldOptionsIn } from "./plan.ts";
import { noteTrouble, readRecord, type SliceRecord, writeRecord } from "./records.ts";

/** A slice, as whoever compiled it has it. */
export interface MadeSlice {
  readonly world: CompiledWorld;
  /** All that the sources hold; absent where it is not kept. */
  readonly loaded?: FilesCompiled["loaded"] | undefined;
  readonly root: string;
  /** Blobs that it names, which are in the store. */
  readonly prewritten: ReadonlySet<string>;
}

/**
 * Compiles one slice of a plan, and writes what it comes to.
 *
 * @throws PortolanError when the sources are no more what the plan says, or hold nothing, and when the store fails
 */
export type SliceMaker = (job: SliceJob, staged?: Staged) => Promise<MadeSlice>;

export interface SliceMaking {
  /**
   * Keeps between calls what did not change, so that a change costs what it changes. Otherwise nothing is kept, nor, while classes are
   * compiled, the texts of the sources: for whoever has little room, or gets another slice each time. True when absent.
   */
  readonly remembers?: boolean;
  /**
   * Tells the code of this compiler from that of any other: a plan of another's is refused. Absent: it cannot be told, and nobody is to
   * take anything of what comes of a slice.
   */
  readonly build?: string | undefined;
}

export function createSliceMaker(
  store: ObjectStore,
  encoder: WorldEncoder = createWorldEncoder(),
  { remembers = true, build }: SliceMaking = {},
): SliceMaker {
  const compile = remembers ? createRememberingCompiler(store) : compilerOnce(store);
  const check = createBlobCheck(store);
  let prewritten: ReadonlySet<string> | undefined;

  return async (job, staged = unwatched) => {
    const { plan } = job;
    if (plan.compiler !== compilerVersion)
      throw new PortolanError(`the plan is one of ${plan.compiler}, and this is ${compilerVersion}`);
    if (build !== undefined && plan.build !== undefined && plan.build !== build)
      throw new PortolanError(`the plan is one of another build of ${compilerVersion}`);
    const { value: world, loaded } = await compile(job, staged, build && reuseKeyOf(plan));
    // Whether it is whole can be told of all slices together only, and is before HEAD moves.
    const encoded = encoder.encode(world);
    prewritten ??= await blobsInForce(store);
    await writeBlobs(store, check, [encoded], { there: [], found: [], prewritten });
    prewritten = new Set(blobsIn([encoded]).keys());
    return { world, loaded, root: encoded.rootBlob.hash, prewritten };
  };
}

/**
 * Does the same for somebody who waits elsewhere: a record of it is written last. One that was done already is left at that.
 *
 * @throws PortolanError as the above does; the reason lies beside where the record would be
 */
export type SliceCompiler = (job: SliceJob) => Promise<SliceRecord>;

export function createSliceCompiler(store: ObjectStore, making: SliceMaking = {}): SliceCompiler {
  const make = createSliceMaker(store, createWorldEncoder(), making);
  return async (job) => {
    const { plan, index } = job;
    const id = planId(plan);
    const known = await readRecord(store, id, index);
    if (known !== undefined) return known;
    try {
      const { root } = await make(job);
      await writeRecord(store, id, index, { root });
      return { root };
    } catch (cause) {
      const reason = cause instanceof PortolanError ? cause.message : "an error of Portolan's own; the log has more";
      // A store that takes nothing does not take this either; who waits for the slice then learns it by the time.
      await noteTrouble(store, id, index, reason).catch(() => {});
      if (!(cause instanceof PortolanError)) throw cause;
      throw new PortolanError(`${sliceText(index, plan.of)}: ${reason}`, cause.diagnostics, cause);
    }
  };
}

/**
 * @param key by which a later compile knows this one
 * @throws PortolanError when the sources are no more what the plan says, or hold nothing
 */
type WorldCompiler = (
  job: SliceJob,
  staged: Staged,
  key: string | undefined,
) => Promise<Pick<FilesCompiled, "value"> & Partial<Pick<FilesCompiled, "loaded">>>;

function createRememberingCompiler(store: ObjectStore): WorldCompiler {
  const readSources = createSourcesReader(store);
  const compilerFor = createCompilers();
  return async (job, staged, key) => {
    const { plan, index } = job;
    const shards = await staged("read", () => readSources(sourceNamesIn(plan), plan.sources));
    const compiled = compilerFor(job)(shards, staged, { index, of: plan.of }, { key });
    refuseRubbish(compiled, shards);
    return compiled;
  };
}

function compilerOnce(store: ObjectStore): WorldCompiler {
  // Each by itself, so that nothing of what is read, or of the world, is held by whoever waits for it.
  const load = async (plan: SlicePlan, staged: Staged): Promise<LoadedWorld> => {
    const shards = await staged("read", () => createSourcesReader(store)(sourceNamesIn(plan), plan.sources));
    return staged("world", () => loadWorld(shards, worldOptionsIn(plan)));
  };
  const count = async ({ plan, index }: SliceJob, memo: Memo, staged: Staged) => {
    const loaded = await load(plan, staged);
    const { objects, isMeantEmpty } = loaded;
    return { counted: countLoaded(loaded, memo, staged, { index, of: plan.of }), objects, isMeantEmpty };
  };
  return async (job, staged, key) => {
    const memo = createMemo();
    const { counted, objects, isMeantEmpty } = await count(job, memo, staged);
    // What counting has remembered of all proxies is more than what making some classes would find there.
    forget(memo);
    const { value, diagnostics } = compileCounted(counted, memo, staged, { key });
    refuseRubbish({ objects, diagnostics }, [{ isMeantEmpty }]);
    return { value };
  };
}

/** One compiler for as long as the settings and the slice stay: the classes of two are more than whoever compiles slices has room for. */
function createCompilers(): (job: SliceJob) => ShardCompiler {
  let known: { readonly text: string; readonly compile: ShardCompiler } | undefined;
  return ({ plan, index }) => {
    const text = JSON.stringify([plan.settings, index, plan.of]);
    if (known?.text !== text) known = { text, compile: createShardCompiler(worldOptionsIn(plan)) };
    return known.compile;
  };
}

/** Blobs that HEAD's roots name, which need not be written again. None where they cannot be told: then all are written. */
async function blobsInForce(store: ObjectStore): Promise<ReadonlySet<string>> {
  try {
    const read = await readHead(store);
    if (read === undefined) return new Set();
    const reader = createSnapshotReader(store, 8 * 1024 * 1024);
    const named = await Promise.all(rootsOfHead(read.head).map((root) => reachableFrom(reader, root)));
    return new Set(named.flatMap((blobs) => [...blobs]));
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    return new Set();
  }
}
