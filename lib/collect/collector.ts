import { PortolanError } from "../base/diagnostic.ts";
import { readShardState, type ShardState } from "../compile/collected/shard-state.ts";
import type { Origin } from "../registry/origin/origin.ts";
import { createBell, defaultPace, type Pace } from "../registry/origin/retry.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { createCollectorHealth } from "./collector-health.ts";
import { createKnownContent } from "./known-content.ts";
import { createSourcePushes, type Push } from "./source-pushes.ts";
import { createShardWriter } from "./write-collected.ts";

export interface CollectorOptions {
  readonly store: ObjectStore;
  /** Name of the source that is filled. */
  readonly source: string;
  readonly origin: Origin;
  /** Whether a source may come to hold nothing, be it of one part that its origin has no more; false when absent. */
  readonly allowEmpty?: boolean;
  /** Whether a source that another origin has filled is taken; false when absent. */
  readonly takeOver?: boolean;
  /** Most characters of JSON that are held of the origin; 1 Gi when absent. */
  readonly mostSize?: number;
  /** The store itself keeps from being collected what a writer finds in place; false when absent. */
  readonly storeRescues?: boolean;
  /** Milliseconds that changes are gathered before they are pushed; 10 when absent. */
  readonly gatherMs?: number;
  /** Milliseconds between signs of life; 10,000 when absent. */
  readonly aliveMs?: number;
  /** Milliseconds since the epoch; the system's clock when absent. */
  readonly now?: () => number;
  readonly pace?: Pace;
  /** Told of every push that changed something, before the next one. */
  readonly pushed?: (push: Push) => Promise<void> | void;
  /** Told once, when the shard holds all of the origin. */
  readonly filled?: () => void;
  /** Told when something begins to go wrong, or is otherwise wrong than before; "" when all is well again. */
  readonly troubled?: (reason: string) => void;
  /** Name of this process in reports of other processes that fill the source; absent: two of them are not detected. */
  readonly writer?: string | undefined;
  /** Called with the name of another process that fills the source at the same time; with "" when there is none any more. */
  readonly shared?: ((other: string) => void) | undefined;
}

/** How far a collector is; what it says when asked whether it is ready. */
export interface CollectorState extends ShardState {
  readonly source: string;
  /** The shard holds all of the origin, as it is or as it was when it could last be read. */
  readonly isFilled: boolean;
  readonly objects: number;
  readonly pushes: number;
  readonly pushedBytes: number;
}

export interface Collector {
  /** Follows the origin until the signal says stop. @throws PortolanError for what no retry mends */
  run(signal: AbortSignal): Promise<void>;
  /** Fills the shard with what the origin holds now. @throws PortolanError when a part of it cannot be read, with nothing pushed */
  once(signal?: AbortSignal): Promise<void>;
  state(): CollectorState;
}

/**
 * Keeps a source's shard as its origin is. Nothing is pushed before every part of the origin was read as a whole, and then only
 * what differs from what lies in the store; changes that come while a push is under way are the next one. While a part
 * cannot be read, what it held stays, and the state beside the shard says so.
 */
export function createCollector(options: CollectorOptions): Collector {
  const { store, source, origin, now = Date.now, pace = defaultPace, allowEmpty = false } = options;
  const bell = createBell();
  const known = createKnownContent({
    parts: origin.parts,
    most: options.mostSize ?? 2 ** 30,
    told: bell.ring,
    dropsAbsent: allowEmpty,
  });
  const writer = createShardWriter(store, {
    source,
    about: origin.about,
    identity: () => origin.identity?.(),
    takeOver: options.takeOver === true,
    storeRescues: options.storeRescues === true,
  });
  const { pushed, filled } = options;
  const asOfBefore = async () => (await readShardState(store, source))?.asOfMs ?? 0;
  const pushes = createSourcePushes(known, writer, {
    source,
    allowEmpty,
    now,
    asOfBefore,
    onLost: bell.ring,
    pushed,
    filled,
  });
  const health = createCollectorHealth(known, pushes, options);

  /** Signs of life: while everything is followed, the shard is as of now. */
  async function sayAlive(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pace.pause(options.aliveMs ?? 10_000, signal);
      if (signal.aborted) return;
      if (health.failure() === "") pushes.confirm();
      await health.save();
      // Where nothing changes nothing else would find that the source belongs to another origin by now.
      if (pushes.isFilled()) bell.ring();
    }
  }

  /** Pushes whenever the origin has changed, and again after a pause where that fails. */
  async function pushChanges(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      await bell.next();
      if (signal.aborted) return;
      await pace.pause(options.gatherMs ?? 10, signal);
      const done = await health.attempt(pushes.push);
      await health.report();
      failures = done ? 0 : failures + 1;
      if (done) continue;
      await pace.pause(pace.backOff(failures), signal);
      bell.ring();
    }
  }

  return {
    state: () => ({
      source,
      objects: known.size(),
      failure: health.failure(),
      isFilled: pushes.isFilled(),
      ...pushes.totals(),
    }),
    async run(signal) {
      const until = new AbortController();
      const ends = AbortSignal.any([signal, until.signal]);
      ends.addEventListener("abort", bell.ring);
      const following = origin.follow(known, ends).finally(() => until.abort());
      const living = sayAlive(ends);
      try {
        await pushChanges(ends);
      } finally {
        until.abort();
        await Promise.all([following, living]);
      }
    },
    async once(signal = new AbortController().signal) {
      const until = new AbortController();
      const ends = AbortSignal.any([signal, until.signal]);
      ends.addEventListener("abort", bell.ring);
      const following = origin.follow(known, ends);
      let broken: unknown;
      following.catch((cause: unknown) => {
        broken = cause;
        until.abort();
      });
      const refuseFailures = (): void => {
        if (known.failures().size > 0)
          throw new PortolanError(`source ${source} was left as it was: ${health.failure()}`);
      };
      try {
        while (!known.isWhole() && !ends.aborted) {
          await bell.next();
          refuseFailures();
        }
        if (broken !== undefined) throw broken;
        if (!known.isWhole())
          throw new PortolanError(`source ${source} was left as it was: it was not read to its end`);
        await pushes.compare();
        refuseFailures();
        do await pushes.push();
        while (!pushes.isCompared());
        await health.save();
      } finally {
        until.abort();
        await following.catch(() => {});
      }
    },
  };
}
