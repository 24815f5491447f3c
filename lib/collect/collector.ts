import { createLastSettings } from "../compile/collected/last-settings.ts";
import { readShardState, type ShardState, writeShardState } from "../compile/collected/shard-state.ts";
import { causeText } from "../config/cause-text.ts";
import { PortolanError } from "../config/diagnostic.ts";
import type { Origin } from "../registry/origin.ts";
import { createBell, defaultPace, type Pace } from "../registry/retry.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { createKnownContent } from "./known-content.ts";
import { createTrouble } from "./trouble.ts";
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
}

export interface Push {
  /** Of the source. */
  readonly version: string;
  /** How many objects came, changed or went. */
  readonly changes: number;
  /** How many there are. */
  readonly objects: number;
  /** What was written. */
  readonly sizeBytes: number;
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
  const { storeRescues = false } = options;
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
    storeRescues,
  });
  const lastSettings = createLastSettings();
  let isFilled = false;
  /** What was loaded is what lies there, as far as is known. */
  let isLoaded = false;
  let asOfMs = 0;
  let pushes = 0;
  let pushedBytes = 0;
  let storeFailure = "";
  let toldFailure = "";
  let savedFailure: string | undefined;

  const trouble = createTrouble();
  const failureNow = (): string => storeFailure || trouble.of(known.failures());
  const state = (): CollectorState => ({
    source,
    isFilled,
    objects: known.size(),
    pushes,
    pushedBytes,
    asOfMs,
    failure: failureNow(),
  });
  const tell = (): void => {
    const failure = failureNow();
    if (failure === toldFailure) return;
    toldFailure = failure;
    options.troubled?.(failure);
  };

  /** Differences are told from what lies in the store. */
  async function compare(): Promise<void> {
    if (known.size() === 0 && !allowEmpty)
      throw new PortolanError(
        `the origin of ${source} holds nothing, and every proxy would lose what it has; --allow-empty takes it all the same`,
      );
    // Somebody else may have written, or taken the source away.
    if (isLoaded && !(await writer.isCurrent())) isLoaded = false;
    if (!isLoaded) {
      const load = async (entries: ReadonlyMap<string, string>) => {
        const different = await writer.load(lastSettings.beside(entries));
        lastSettings.loaded(different);
        return different;
      };
      await known.compareWith(load, () => !writer.isAnothers());
      isLoaded = true;
    }
  }

  async function push(): Promise<void> {
    if (!known.isWhole()) return;
    // What is heard from here on may not be in what is written.
    const heardMs = now();
    await compare();
    const isFollowed = known.failures().size === 0;
    const changes = known.takeChanges();
    if (changes.size > 0 || !isFilled) {
      const written = await writer.write(lastSettings.among(changes), known.size() === 0).catch((cause: unknown) => {
        known.putBack(changes);
        throw cause;
      });
      if (written.kind === "lost") {
        isLoaded = false;
        bell.ring();
        return;
      }
      const isFirst = !isFilled;
      // A collector that starts while a part cannot be read is as old as the one before it left the source.
      if (isFirst && !isFollowed && !writer.isAnothers()) asOfMs = await asOfBefore(heardMs);
      isFilled = true;
      if (written.sizeBytes > 0) {
        pushes += 1;
        pushedBytes += written.sizeBytes;
        const { version, sizeBytes } = written;
        await options.pushed?.({ version, changes: changes.size, objects: known.size(), sizeBytes });
      }
      if (isFirst) options.filled?.();
    }
    if (isFollowed) asOfMs = heardMs;
  }

  /** @returns 0 where the store knows of no time at which all of the origin was followed */
  async function asOfBefore(nowMs: number): Promise<number> {
    const before = await readShardState(store, source);
    return Math.min(before?.asOfMs ?? 0, nowMs);
  }

  async function attempt(): Promise<boolean> {
    try {
      await push();
      storeFailure = "";
      return true;
    } catch (cause) {
      storeFailure = causeText(cause);
      return false;
    }
  }

  /** Signs of life: while everything is followed, the shard is as of now. */
  async function sayAlive(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pace.pause(options.aliveMs ?? 10_000, signal);
      if (signal.aborted) return;
      if (isFilled && failureNow() === "") asOfMs = now();
      await saveState();
      // Where nothing changes nobody would find that the source is somebody else's by now.
      if (isFilled) bell.ring();
    }
  }
  async function saveState(): Promise<void> {
    if (!isFilled) return;
    savedFailure = failureNow();
    // Whoever cannot write it cannot write the shard either, which is told.
    await writeShardState(store, source, { asOfMs, failure: savedFailure }).catch(() => {});
  }

  return {
    state,
    async run(signal) {
      const until = new AbortController();
      const ends = AbortSignal.any([signal, until.signal]);
      ends.addEventListener("abort", bell.ring);
      const following = origin.follow(known, ends).finally(() => until.abort());
      const living = sayAlive(ends);
      let failures = 0;
      try {
        while (!ends.aborted) {
          await bell.next();
          if (ends.aborted) break;
          await pace.pause(options.gatherMs ?? 10, ends);
          const done = await attempt();
          tell();
          if (failureNow() !== savedFailure) await saveState();
          failures = done ? 0 : failures + 1;
          if (done) continue;
          await pace.pause(pace.backOff(failures), ends);
          bell.ring();
        }
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
      try {
        const refuseFailures = (): void => {
          if (known.failures().size > 0)
            throw new PortolanError(`source ${source} was left as it was: ${failureNow()}`);
        };
        while (!known.isWhole() && !ends.aborted) {
          await bell.next();
          refuseFailures();
        }
        if (broken !== undefined) throw broken;
        if (!known.isWhole())
          throw new PortolanError(`source ${source} was left as it was: it was not read to its end`);
        await compare();
        refuseFailures();
        do await push();
        while (!isLoaded);
        await saveState();
      } finally {
        until.abort();
        await following.catch(() => {});
      }
    },
  };
}
