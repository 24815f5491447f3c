import { PortolanError } from "../base/diagnostic.ts";
import { createLastSettings } from "../compile/collected/last-settings.ts";
import type { KnownContent } from "./known-content.ts";
import type { ShardWriter } from "./write-collected.ts";

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

/** Writes to a source what differs between it and what is known of its origin. */
export interface SourcePushes {
  /** Compares with what lies in the store, unless that was done and no other process has written since. */
  compare(): Promise<void>;
  /** Whether the last comparison still holds. */
  isCompared(): boolean;
  /** Writes what differs, once everything of the origin is known. @throws PortolanError with the changes kept for the next call */
  push(): Promise<void>;
  /** The source holds all of the origin, as it is or as it was when it could last be read. */
  isFilled(): boolean;
  /** What the source holds is how the origin is now. */
  confirm(): void;
  /** `asOfMs`: when the origin was last as the source holds it, in milliseconds since the epoch; 0 before that was known. */
  totals(): { readonly asOfMs: number; readonly pushes: number; readonly pushedBytes: number };
}

export interface SourcePushesOptions {
  readonly source: string;
  readonly allowEmpty: boolean;
  readonly now: () => number;
  /** `asOfMs` as the collector before left it in the store; 0 where there was none. */
  readonly asOfBefore: () => Promise<number>;
  /** Another process wrote first: `push` is to be called again. */
  readonly onLost: () => void;
  readonly pushed: ((push: Push) => Promise<void> | void) | undefined;
  readonly filled: (() => void) | undefined;
}

export function createSourcePushes(
  known: KnownContent,
  writer: ShardWriter,
  { source, allowEmpty, now, asOfBefore, onLost, pushed, filled }: SourcePushesOptions,
): SourcePushes {
  const lastSettings = createLastSettings();
  let isCompared = false;
  let isFilled = false;
  let asOfMs = 0;
  let pushes = 0;
  let pushedBytes = 0;

  async function compare(): Promise<void> {
    if (known.size() === 0 && !allowEmpty)
      throw new PortolanError(
        `the origin of ${source} is empty, and every proxy would lose its configuration; use --allow-empty to accept this`,
      );
    // Another process may have written, or taken the source away.
    if (isCompared && !(await writer.isCurrent())) isCompared = false;
    if (isCompared) return;
    const load = async (entries: ReadonlyMap<string, string>) => {
      const different = await writer.load(lastSettings.beside(entries));
      lastSettings.loaded(different);
      return different;
    };
    await known.compareWith(load, () => !writer.isAnothers());
    isCompared = true;
  }

  /** @returns false when another process wrote first */
  async function write(changes: ReadonlyMap<string, string | undefined>): Promise<boolean> {
    const written = await writer.write(lastSettings.among(changes), known.size() === 0).catch((cause: unknown) => {
      known.putBack(changes);
      throw cause;
    });
    if (written.kind === "lost") return false;
    const isFirst = !isFilled;
    // A collector that starts while a part cannot be read is as old as the one before it left the source.
    if (isFirst && !writer.isAnothers()) asOfMs = Math.min(await asOfBefore(), now());
    isFilled = true;
    if (written.sizeBytes > 0) {
      const { version, sizeBytes } = written;
      pushes += 1;
      pushedBytes += sizeBytes;
      await pushed?.({ version, changes: changes.size, objects: known.size(), sizeBytes });
    }
    if (isFirst) filled?.();
    return true;
  }

  return {
    compare,
    isCompared: () => isCompared,
    async push() {
      if (!known.isWhole()) return;
      // What is heard from here on may not be in what is written.
      const heardMs = now();
      await compare();
      const isFollowed = known.failures().size === 0;
      const changes = known.takeChanges();
      if ((changes.size > 0 || !isFilled) && !(await write(changes))) {
        isCompared = false;
        onLost();
        return;
      }
      if (isFollowed) asOfMs = heardMs;
    },
    isFilled: () => isFilled,
    confirm() {
      if (isFilled) asOfMs = now();
    },
    totals: () => ({ asOfMs, pushes, pushedBytes }),
  };
}
