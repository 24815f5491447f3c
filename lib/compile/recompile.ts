import { type Diagnostic, PortolanError } from "../config/diagnostic.ts";
import { paceOf } from "../snapshot/head/steps.ts";
import {
  createPublisher,
  type Publisher,
  type PublisherOptions,
  type Publishing,
  type PublishResult,
} from "../snapshot/publish.ts";
import type { Pin } from "../snapshot/root.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { staleSources } from "./collected/stale-sources.ts";
import { createShardCompiler, type FilesCompiled } from "./compile-files.ts";
import { type RecordedSettings, settingsOf, settleSettings, worldOptionsOf } from "./recorded-settings.ts";
import { createSourcesReader, type Shard } from "./shards/read-sources.ts";
import { refuseEmptyMesh } from "./shards/refuse-empty.ts";
import { fillWanted } from "./shards/wanted-shard.ts";
import {
  type CompileObserver,
  type CompileReport,
  countOf,
  noObserver,
  type Staged,
  stagedBy,
  unwatched,
} from "./telemetry/observer.ts";
import { defaultWorldOptions, type WorldOptions } from "./world-of.ts";

export interface Recompiled {
  /** What came of it: `unchanged` when the world compiles to the root that HEAD leads to already; `PublishResult` has the others. */
  readonly kind: Exclude<PublishResult["kind"], "lost">;
  /** Hash of the root. */
  readonly version: string;
  readonly generation: number;
  /** What holds everybody where they are; absent where nothing does. */
  readonly pin?: Pin;
  /** How many blobs of what is served were missing or damaged, and are written anew; absent for none. */
  readonly mended?: number;
  /** Roots that nodes were led away from without steps, since they could not be read; absent for none. */
  readonly unread?: readonly string[];
  /** The source whose files are named as they are in diagnostics; those of the others have their source's name before them. */
  readonly primary?: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** A compile with all that came of it, for whoever runs in the same process. */
export interface RecompiledWorld extends Recompiled {
  readonly compiled: FilesCompiled;
  readonly result: Exclude<PublishResult, { readonly kind: "lost" }>;
}

export interface RecompileOptions {
  readonly store: ObjectStore;
  /** Sources that come first, in order: the first is the primary, whose mesh settings count. Absent: as recorded in the store. */
  readonly sources?: readonly string[];
  /** How to compile, in full. Absent: as recorded in the store. */
  readonly world?: WorldOptions;
  /** What is otherwise than it is recorded. */
  readonly change?: Partial<RecordedSettings>;
  readonly publisher?: PublisherOptions;
  /** Called between compiling and publishing. */
  readonly onCompiled?: () => void;
  /** Is told of every compile: its stages, what they took, what came of them. */
  readonly observer?: CompileObserver;
  /** Milliseconds since the epoch, to tell how old collected sources are; the system's clock when absent. */
  readonly now?: () => number;
}

const maxAttempts = 6;

/**
 * The one way to compile what a store's sources hold, all of them, and to publish it: again and again until nobody else was
 * faster. Remembers between calls what did not change.
 *
 * @returns a function, whose second argument may stand in the way of publishing by rejecting; it
 * throws PortolanError, with HEAD untouched, when the store fails, no source was ever filled, or the sources hold nothing although
 * nobody has said that they may
 */
export function createRecompiler(
  options: RecompileOptions,
): (publishing?: Publishing, mayPublish?: () => Promise<void>) => Promise<Recompiled> {
  const recompile = createWorldRecompiler(options);
  return async (publishing, mayPublish) => {
    const { compiled: _compiled, result: _result, ...told } = await recompile(publishing, mayPublish);
    return told;
  };
}

/** The same, for whoever looks at the world too. */
export function createWorldRecompiler(
  options: RecompileOptions,
): (publishing?: Publishing, mayPublish?: () => Promise<void>) => Promise<RecompiledWorld> {
  const { store, onCompiled } = options;
  const compileSources = createSourcesCompiler(options);
  const publisherFor = createPublishers(store, options.publisher);
  let pollDelayMs: number | undefined;
  const { observer = noObserver } = options;
  return async (publishing, mayPublish = async () => {}) => {
    const watch = observer.begin();
    const staged = stagedBy(watch);
    try {
      for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
        // HEAD first: whoever publishes a newer world meanwhile makes this attempt lose.
        const base = await publisherFor(pollDelayMs).head();
        await fillWanted(store, options.now ?? Date.now);
        const { primary, compiled, settings } = await compileSources(staged);
        ({ pollDelayMs } = settings);
        const publisher = publisherFor(pollDelayMs);
        onCompiled?.();
        await mayPublish();
        const result = await staged("publish", () => publisher.publish(compiled.value, base, publishing));
        if (result.kind === "lost") continue;
        const { kind, root, head } = result;
        const pin = head.pin === undefined || kind === "published" ? {} : { pin: head.pin };
        const mended = result.written.mended === 0 ? {} : { mended: result.written.mended };
        const unread = result.unread.length === 0 ? {} : { unread: result.unread };
        const told = { kind, version: root, generation: head.generation, ...pin, ...mended, ...unread, primary };
        const collected = compiled.value.sources.map(({ name }) => name);
        // No part of the root: what is published does not depend on the hour.
        const stale = await staleSources(store, collected, (options.now ?? Date.now)());
        const diagnostics = [...compiled.diagnostics, ...stale];
        watch.done(reportOf(result, compiled, attempt, diagnostics));
        return { ...told, diagnostics, compiled, result };
      }
      throw new PortolanError(
        `HEAD moved ${maxAttempts} times while this compiled; somebody else publishes all the time`,
      );
    } catch (cause) {
      watch.failed(cause);
      throw cause;
    }
  };
}

/** One publisher for as long as the pace stays: it remembers what the next publish is compared with. */
function createPublishers(store: ObjectStore, options: PublisherOptions = {}) {
  let known: { readonly pollDelayMs: number | undefined; readonly publisher: Publisher } | undefined;
  return (pollDelayMs: number | undefined): Publisher => {
    if (known !== undefined && known.pollDelayMs === pollDelayMs) return known.publisher;
    const pace = options.pace ?? (pollDelayMs === undefined ? undefined : paceOf(pollDelayMs));
    const publisher = createPublisher(store, { ...options, ...(pace === undefined ? {} : { pace }) });
    known = { pollDelayMs, publisher };
    return publisher;
  };
}

const reportOf = (
  { kind, head, root, written }: RecompiledWorld["result"],
  { value, memo }: FilesCompiled,
  attempts: number,
  diagnostics: readonly Diagnostic[],
): CompileReport => ({
  kind,
  generation: head.generation,
  root,
  attempts,
  classes: value.classes.length,
  objectsWritten: written.objects,
  bytesWritten: written.bytes,
  memo,
  errors: countOf(diagnostics, "error"),
  warnings: countOf(diagnostics, "warning"),
});

export interface SourcesCompiled {
  readonly primary: string;
  readonly compiled: FilesCompiled;
  readonly settings: RecordedSettings;
}

/** Compiles what all sources of a store hold, and publishes nothing. */
export function createSourcesCompiler(
  options: Omit<RecompileOptions, "publisher">,
): (staged?: Staged) => Promise<SourcesCompiled> {
  const { store, world = defaultWorldOptions } = options;
  const readSources = createSourcesReader(store);
  const compilerFor = createCompilers(world);
  const given = {
    ...(options.sources === undefined ? {} : { sources: options.sources }),
    ...(options.world === undefined ? {} : settingsOf(options.world)),
    ...options.change,
  };
  return async (staged = unwatched) => {
    const { settings, shards } = await staged("read", async () => {
      const settings = await settleSettings(store, given);
      return { settings, shards: await readSources(settings.sources) };
    });
    const [primary] = shards;
    if (primary === undefined) throw new PortolanError("no source was filled yet");
    const compiled = compilerFor(settings)(shards, staged);
    refuseRubbish(compiled, shards);
    return { primary: primary.name, compiled, settings };
  };
}

/** One compiler for as long as the settings stay. */
function createCompilers(world: WorldOptions) {
  let known: { readonly text: string; readonly compile: ReturnType<typeof createShardCompiler> } | undefined;
  return (settings: RecordedSettings) => {
    const text = JSON.stringify(settings);
    if (known?.text !== text) known = { text, compile: createShardCompiler(worldOptionsOf(settings, world)) };
    return known.compile;
  };
}

/** Sources that hold errors and nothing else, or nothing at all, are a mistake, and no reason to empty the mesh. */
function refuseRubbish({ objects, diagnostics }: FilesCompiled, shards: readonly Shard[]): void {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (objects === 0 && errors.length > 0) {
    throw new PortolanError("the sources hold no configuration that can be read", errors);
  }
  refuseEmptyMesh(
    objects,
    shards.some(({ isMeantEmpty = false }) => isMeantEmpty),
  );
}
