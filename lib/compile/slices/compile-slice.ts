import { PortolanError } from "../../config/diagnostic.ts";
import type { CompiledWorld } from "../../snapshot/compiled.ts";
import { readHead, rootsOfHead } from "../../snapshot/head/head.ts";
import { createSnapshotReader } from "../../snapshot/snapshot-reader.ts";
import { createBlobCheck } from "../../snapshot/upkeep/blob-check.ts";
import { reachableFrom } from "../../snapshot/upkeep/reachable.ts";
import { createWorldEncoder, type WorldEncoder } from "../../snapshot/worlds/encode-world.ts";
import { blobsOf, writeBlobs } from "../../snapshot/write-blobs.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { compilerVersion } from "../compile.ts";
import { createShardCompiler, type ShardCompiler } from "../compile-files.ts";
import { worldOptionsOf } from "../recorded-settings.ts";
import { createSourcesReader } from "../shards/read-sources.ts";
import { refuseRubbish } from "../shards/refuse-empty.ts";
import { type Staged, unwatched } from "../telemetry/observer.ts";
import { defaultWorldOptions } from "../world-of.ts";
import { planId, type SliceJob, sliceText } from "./plan.ts";
import { noteTrouble, readRecord, type SliceRecord, writeRecord } from "./records.ts";

/** A slice, as whoever compiled it has it. */
export interface MadeSlice {
  readonly world: CompiledWorld;
  readonly root: string;
  /** Blobs that it names, which are in the store. */
  readonly laid: ReadonlySet<string>;
}

/**
 * Compiles one slice of a plan, and writes what it comes to. Remembers between calls what did not change.
 *
 * @throws PortolanError when the sources are no more what the plan says, or hold nothing, and when the store fails
 */
export type SliceMaker = (job: SliceJob, staged?: Staged) => Promise<MadeSlice>;

export function createSliceMaker(store: ObjectStore, encoder: WorldEncoder = createWorldEncoder()): SliceMaker {
  const readSources = createSourcesReader(store);
  const compilerFor = createCompilers();
  const check = createBlobCheck(store);
  let laid: ReadonlySet<string> | undefined;

  return async (job, staged = unwatched) => {
    const { plan, index } = job;
    if (plan.compiler !== compilerVersion)
      throw new PortolanError(`the plan is one of ${plan.compiler}, and this is ${compilerVersion}`);
    const names = plan.sources.map(({ name }) => name);
    const shards = await staged("read", () => readSources(names, plan.sources));
    const compiled = compilerFor(job)(shards, staged, { index, of: plan.of });
    refuseRubbish(compiled, shards);
    // Whether it is whole can be told of all slices together only, and is before HEAD moves.
    const encoded = encoder.encode(compiled.value);
    laid ??= await blobsInForce(store);
    await writeBlobs(store, check, [encoded], { there: new Set(), found: new Set(), laid });
    laid = new Set(blobsOf([encoded]).keys());
    return { world: compiled.value, root: encoded.rootBlob.hash, laid };
  };
}

/**
 * Does the same for somebody who waits elsewhere: a record of it is written last. One that was done already is left at that.
 *
 * @throws PortolanError as the above does; the reason lies beside where the record would be
 */
export type SliceCompiler = (job: SliceJob) => Promise<SliceRecord>;

export function createSliceCompiler(store: ObjectStore): SliceCompiler {
  const make = createSliceMaker(store);
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

/** One compiler for as long as the settings and the slice stay: the classes of two are more than whoever compiles slices has room for. */
function createCompilers(): (job: SliceJob) => ShardCompiler {
  let known: { readonly text: string; readonly compile: ShardCompiler } | undefined;
  return ({ plan: { settings, of }, index }) => {
    const text = JSON.stringify([settings, index, of]);
    if (known?.text !== text)
      known = { text, compile: createShardCompiler(worldOptionsOf(settings, defaultWorldOptions)) };
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
