import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { CompiledWorld } from "../../snapshot/compiled.ts";
import type { SourceVersion } from "../../snapshot/root.ts";
import type { WorldEncoder } from "../../snapshot/worlds/encode-world.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type Clock, monotonicClock } from "../clock.ts";
import { compilerVersion } from "../compile.ts";
import type { FilesCompiled } from "../compile-files.ts";
import { nothingWithheld, versionsBesideWithheld, type WithheldVersions } from "../isolation/withheld-sources.ts";
import { pinnedVersions } from "../shards/pinned-configuration.ts";
import type { Keeping } from "../shards/unreadable-source.ts";
import type { Staged } from "../telemetry/observer.ts";
import type { RecordedSettings } from "../world/recorded-settings.ts";
import { createSliceMaker } from "./compile-slice.ts";
import { type JoinedSlices, joinSlices, UnreadableSlices } from "./join-slices.ts";
import { planId, type SliceJob, type SlicePlan, sliceText } from "./plan.ts";
import { dropRecord, forgetTrouble, readRecord, readTrouble, type SliceRecord } from "./records.ts";
import { sourceBytes } from "./source-versions.ts";

/** How classes are handed to others to be compiled, and how long for. */
export interface FanOut {
  /**
   * Hands a slice to somebody who compiles it. May resolve before that is done: what came of it lies in the store. Rejects when nobody
   * will.
   */
  readonly dispatch: (job: SliceJob) => Promise<void>;
  /** At most so many slices. */
  readonly most: number;
  /** Whoever hands out slices compiles the first one himself, while the others are compiled; false when absent. */
  readonly compilesToo?: boolean;
  /** A world gets another slice for so many bytes of its sources; a MiB when absent. */
  readonly sliceBytes?: number;
  /** Slices that are not there by then are given up, in milliseconds. */
  readonly waitMs: number;
  /** How often what came of slices is looked for, at first, in milliseconds. */
  readonly pollMs?: number;
  /** The machine's when absent. */
  readonly clock?: Clock;
  /** Is told what somebody else will mend, or has mended already. */
  readonly onTrouble?: (reason: string) => void;
}

/** Less is compiled faster than it is handed out. */
const usualSliceBytes = 1024 * 1024;
/** A slice that fails so often fails for good. */
const maxTries = 3;

export interface FannedOut {
  readonly primary: string;
  readonly world: CompiledWorld;
  /** All that the sources hold, where this process compiles a slice too. */
  readonly loaded?: FilesCompiled["loaded"] | undefined;
  /** Blobs of it that are in the store. */
  readonly prewritten: ReadonlySet<string>;
}

/**
 * Compiles what the sources of a store hold, slice by slice, and joins what came of it. What was compiled of the same plan before is
 * taken as it is, so whoever takes over from one who has died does what is left.
 *
 * @param keeping what to do with a source that cannot be read
 * @param heldConfiguration versions whose configuration counts, of the sources that have any; absent: that of the newest
 * @returns undefined where the sources are too little to be cut up
 */
export type FannedCompile = (
  settings: RecordedSettings,
  staged: Staged,
  keeping: Keeping,
  heldConfiguration?: readonly SourceVersion[],
) => Promise<FannedOut | undefined>;

export interface FannedCompileOptions {
  /** Tells the code of this compiler from that of any other. */
  readonly build?: string | undefined;
  /** Versions of sources that are not to be compiled, asked before each compile; absent: none. */
  readonly held?: (() => WithheldVersions) | undefined;
}

/** @param encoder the publisher's, so that nothing is encoded twice */
export function createFannedCompile(
  store: ObjectStore,
  fanOut: FanOut,
  encoder: WorldEncoder,
  { build, held = () => nothingWithheld }: FannedCompileOptions = {},
): FannedCompile {
  const { most, compilesToo = false, sliceBytes = usualSliceBytes, onTrouble = () => {} } = fanOut;
  const make = createSliceMaker(store, encoder, { build });
  let last: CompiledWorld | undefined;
  return async (settings, staged, keeping, heldConfiguration) => {
    const { of, sources } = await staged("read", async () => {
      const newest = await versionsBesideWithheld(store, settings.sources, held(), keeping);
      return {
        of: Math.min(most, Math.ceil((await sourceBytes(store, sliceBytes)) / sliceBytes)),
        sources: heldConfiguration === undefined ? newest : pinnedVersions(newest, heldConfiguration),
      };
    });
    const [primary] = sources;
    if (of <= 1 || primary === undefined) return undefined;
    const known = build === undefined ? {} : { build };
    const plan: SlicePlan = { compiler: compilerVersion, ...known, sources, settings, of };
    const like = last === undefined ? undefined : { world: last, encoded: encoder.encode(last) };
    const join = async () => {
      const others = rootsOfSlices(store, plan, fanOut);
      // Should this one fail first, that is told of, and not the others.
      others.catch(() => {});
      const own = compilesToo ? await make({ plan, index: 0 }, staged) : undefined;
      const roots = await staged("slices", () => others);
      const all = own === undefined ? roots : [own.world, ...roots];
      const { world, read } = await staged("join", () => joinSlices(store, all, { like }));
      return { world, loaded: own?.loaded, read: own === undefined ? read : new Set([...read, ...own.prewritten]) };
    };
    const joined: JoinedSlices & Pick<FannedOut, "loaded"> = await join().catch(async (cause: unknown) => {
      if (!(cause instanceof UnreadableSlices)) throw cause;
      // Collected since they were written, or damaged: they are compiled anew, once.
      onTrouble(cause.message);
      for (const index of cause.indexes) await dropRecord(store, planId(plan), index);
      return join();
    });
    last = joined.world;
    return { primary: primary.name, world: joined.world, loaded: joined.loaded, prewritten: joined.read };
  };
}

/** The roots of all slices that others compile. @throws PortolanError when one failed for good, or is not there in time */
async function rootsOfSlices(store: ObjectStore, plan: SlicePlan, fanOut: FanOut): Promise<readonly string[]> {
  const { waitMs, pollMs = 100, compilesToo = false, clock = monotonicClock, onTrouble = () => {} } = fanOut;
  const id = planId(plan);
  const records = new Map<number, SliceRecord>();
  const told = new Map<number, number>();
  const handedOut = Array.from({ length: plan.of }, (_, index) => index).slice(compilesToo ? 1 : 0);
  const look = async (): Promise<readonly number[]> => {
    const open = handedOut.filter((index) => !records.has(index));
    const found = await Promise.all(open.map((index) => readRecord(store, id, index)));
    for (const [at, index] of open.entries()) {
      const record = found[at];
      if (record !== undefined) records.set(index, record);
    }
    return open.filter((index) => !records.has(index));
  };
  const troubles = async (open: readonly number[]): Promise<readonly string[]> => {
    const found = await Promise.all(
      open.map(async (index) => ({ index, trouble: await readTrouble(store, id, index) })),
    );
    return found.flatMap(({ index, trouble }) => {
      if (trouble === undefined) return [];
      const reason = `${sliceText(index, plan.of)}: ${trouble.reason}`;
      if (trouble.tries !== told.get(index)) onTrouble(reason);
      told.set(index, trouble.tries);
      if (trouble.tries >= maxTries) throw new PortolanError(reason);
      return [reason];
    });
  };

  const sending = { isOver: false, failures: [] as unknown[] };
  const startMs = clock.now();
  const unsent = await look();
  await Promise.all(unsent.map((index) => forgetTrouble(store, id, index)));
  const sent = unsent.map((index) => fanOut.dispatch({ plan, index }));
  // Those who answer when they are done are waited for at once; the first that cannot is told of below.
  const answered = Promise.all(sent).then(
    () => {
      sending.isOver = true;
    },
    (cause: unknown) => {
      sending.failures.push(cause);
    },
  );
  for (let pauseMs = pollMs; ; pauseMs = Math.min(pauseMs * 1.5, 2000)) {
    await (sending.isOver ? clock.pause(pauseMs) : Promise.race([answered, clock.pause(pauseMs)]));
    for (const cause of sending.failures) throw failedSlice(cause);
    const open = await look();
    if (open.length === 0) break;
    const reasons = await troubles(open);
    if (clock.now() - startMs > waitMs) {
      const names = open.map((index) => index + 1).join(", ");
      const why = reasons.length === 0 ? "no reason is known" : reasons.join("; ");
      throw new PortolanError(
        `of ${plan.of} slices ${open.length} (${names}) were not compiled within ${Math.round(waitMs / 1000)} s: ${why}`,
      );
    }
  }
  return [...records].sort(([a], [b]) => a - b).map(([, { root }]) => root);
}

const failedSlice = (cause: unknown): PortolanError =>
  cause instanceof PortolanError
    ? cause
    : new PortolanError(`a slice could not be handed out: ${causeText(cause)}`, [], cause);
