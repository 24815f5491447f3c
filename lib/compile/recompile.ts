import { type Diagnostic, PortolanError } from "../config/diagnostic.ts";
import type { ReadHead } from "../snapshot/head/head.ts";
import type { Beside } from "../snapshot/head/lead.ts";
import { paceOf } from "../snapshot/head/steps.ts";
import type { Laid, Laying } from "../snapshot/laying.ts";
import {
  createPublisher,
  type Publisher,
  type PublisherOptions,
  type Publishing,
  type PublishResult,
} from "../snapshot/publish.ts";
import { readOnce } from "../snapshot/read-once.ts";
import type { Canary, Pin } from "../snapshot/root.ts";
import { isUnread } from "../snapshot/standing/stored-part.ts";
import { createWorldEncoder, type WorldEncoder } from "../snapshot/worlds/encode-world.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { staleSources } from "./collected/stale-sources.ts";
import { createShardCompilers, type FilesCompiled, type ShardCompilers } from "./compile-files.ts";
import { layLists } from "./lay-lists.ts";
import { NothingFilled } from "./nothing-filled.ts";
import { type RecordedSettings, settingsOf, settleSettings, worldOptionsOf } from "./recorded-settings.ts";
import { haveChangedSince } from "./shards/changed-since.ts";
import { createSourcesReader } from "./shards/read-sources.ts";
import { refuseRubbish } from "./shards/refuse-empty.ts";
import type { TextsByHash } from "./shards/source-shard.ts";
import { fillWanted } from "./shards/wanted-shard.ts";
import { createFannedCompile, type FanOut } from "./slices/fan-out.ts";
import { wholeWorld } from "./slices/slice.ts";
import { createStandingKeeper, type StandingKeeper } from "./standing/keep-standing.ts";
import { standingKey } from "./standing/open-standing.ts";
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
  /** What a part of the nodes has, where this was published for such a part, or is held. */
  readonly canary?: Canary;
  /** The canary that ended with this one; absent: none did. */
  readonly replaced?: Canary;
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
  /** Hands the classes of a world to others to be compiled, where it is large enough; absent: all are compiled here. */
  readonly fanOut?: FanOut;
  /** Is told of every compile: its stages, what they took, what came of them. */
  readonly observer?: CompileObserver;
  /**
   * Tells the code of this compiler from that of any other. With it, a process that starts with an empty memory takes from the newest
   * publish what still stands; absent: it makes everything.
   */
  readonly build?: string | undefined;
  /** Whether the caller reads what was compiled, resource by resource: then nothing is taken that would have to be read first. False when absent. */
  readonly looksInto?: boolean;
  /** Starts to write what a process makes in its first compile before all of it is made; absent: it is written when it is published. */
  readonly startLaying?: (() => Laying) | undefined;
  /** Texts of sources that are known to lie in the store, by their hashes: those of a writer in this process. Absent: all are read. */
  readonly texts?: TextsByHash;
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
  const { fanOut } = options;
  const recompile = createCompileLoop<Published>(options, (reading, encoder) =>
    fanOut === undefined ? createStandingCompiler(reading, encoder) : createFannedCompiler(reading, fanOut, encoder),
  );
  return async (publishing, mayPublish) => {
    const { compiled: _compiled, result: _result, ...told } = await recompile(publishing, mayPublish);
    return told;
  };
}

/** The same, in this process whatever `fanOut` says, for whoever looks at the world too. */
export function createWorldRecompiler(
  options: Omit<RecompileOptions, "fanOut">,
): (publishing?: Publishing, mayPublish?: () => Promise<void>) => Promise<RecompiledWorld> {
  return createCompileLoop(options, createStandingCompiler);
}

/** What was compiled, as far as publishing and telling need it. */
interface Published {
  readonly primary: string;
  readonly settings: RecordedSettings;
  readonly compiled: Pick<FilesCompiled, "value" | "diagnostics" | "memo">;
  /** Blobs that the store has, and that others have written; absent: none is known to be there. */
  readonly laid?: ReadonlySet<string>;
  /** What this process has had written of it while it was made; absent: nothing. */
  readonly early?: Promise<Laid> | undefined;
}

/** Compiles for whoever publishes it. */
interface Compiling<C> {
  /**
   * @param base HEAD, which was read before
   * @param filled settles when the sources may be read
   */
  compile(staged: Staged, base: ReadHead | undefined, filled: Promise<void>): Promise<C>;
  readonly standing: StandingKeeper;
}

const lost = { kind: "lost" } as const;

/** What came of a compile that was published. */
interface CompiledOnce<C extends Published> extends Recompiled {
  readonly compiled: C["compiled"];
  readonly result: RecompiledWorld["result"];
}

type CompileLoop<C extends Published> = (
  publishing?: Publishing,
  mayPublish?: () => Promise<void>,
) => Promise<CompiledOnce<C>>;

/** @returns and whether the sources are others by now than what was published; false where nothing was, or for a share of the nodes */
type LookingCompile<C extends Published> = (
  ...asked: Parameters<CompileLoop<C>>
) => Promise<{ readonly made: CompiledOnce<C>; readonly haveChanged: boolean }>;

/**
 * Looks once more where the sources are others by now than what was published. Somebody may have put back what they held before: his compile
 * came to what HEAD led to then, so it moved nothing, and this one's write of HEAD did not lose against it.
 */
function lookingOnceMore<C extends Published>(compile: LookingCompile<C>): CompileLoop<C> {
  return async (publishing, mayPublish) => {
    const { made: first, haveChanged } = await compile(publishing, mayPublish);
    if (!haveChanged) return first;
    // What was published stands where this fails; the log has why.
    const second = await compile(publishing, mayPublish).catch(() => undefined);
    return second?.made.kind === "published" ? second.made : first;
  };
}

/** @param createCompiling of whose options the store reads each blob once in a compile */
function createCompileLoop<C extends Published>(
  options: RecompileOptions,
  createCompiling: (options: RecompileOptions, encoder: WorldEncoder) => Compiling<C>,
): CompileLoop<C> {
  const encoder = createWorldEncoder();
  const { store, forget } = readOnce(options.store);
  const reading = { ...options, store };
  const compile = compileOnce(reading, createCompiling(reading, encoder), encoder, forget);
  return lookingOnceMore(compile);
}

/** Compiles until nobody else was faster. @param forget what was read of the store */
function compileOnce<C extends Published>(
  options: RecompileOptions,
  { compile, standing }: Compiling<C>,
  encoder: WorldEncoder,
  forget: () => void,
): LookingCompile<C> {
  const { store, onCompiled, now = Date.now } = options;
  const publishers = createPublishers(store, encoder, options.publisher);
  let pollDelayMs: number | undefined;
  const { observer = noObserver } = options;
  return async (publishing, mayPublish = async () => {}) => {
    const watch = observer.begin();
    const staged = stagedBy(watch);
    try {
      for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
        forget();
        // HEAD first: whoever publishes a newer world meanwhile makes this attempt lose.
        const base = await publishers.of(pollDelayMs).head();
        const filled = fillWanted(store, now);
        filled.catch(() => {});
        const made = await compile(staged, base, filled);
        const { primary, settings } = made;
        const compiled: C["compiled"] = made.compiled;
        ({ pollDelayMs } = settings);
        const publisher = publishers.of(pollDelayMs);
        onCompiled?.();
        const laid = made.laid ?? made.early?.then(({ blobs }) => blobs);
        let haveChanged = false;
        const beside: Beside = {
          ...(laid === undefined ? {} : { laid }),
          mayMove: mayPublish,
          moved: async () => {
            if (publishing?.share !== undefined) return;
            // A look that fails tells nothing, and what was published stands.
            haveChanged = await haveChangedSince(store, compiled.value.sources).catch(() => false);
          },
        };
        const publish = () => publisher.publish(compiled.value, base, publishing, beside);
        // No part of the root: what is published does not depend on the hour.
        const stale = staleSources(
          store,
          compiled.value.sources.map(({ name }) => name),
          now(),
        );
        stale.catch(() => {});
        const published = await staged("publish", publish).catch((cause: unknown) => {
          if (!isUnread(cause)) throw cause;
          // The way from what is served leads through what lies in the store: the next attempt reads what is served, and the one after that
          // makes everything.
          if (!publishers.forget()) standing.drop();
          return lost;
        });
        if (published.kind === "lost") continue;
        const result = withEarly(published, await made.early);
        standing.moved(result.head);
        publishers.remembers();
        const { kind, root, head } = result;
        const pin = head.pin === undefined || kind === "published" ? {} : { pin: head.pin };
        const canary =
          kind === "published" || kind === "unchanged" || head.canary === undefined ? {} : { canary: head.canary };
        const mended = result.written.mended === 0 ? {} : { mended: result.written.mended };
        const replaced = result.replaced === undefined ? {} : { replaced: result.replaced };
        const unread = result.unread.length === 0 ? {} : { unread: result.unread };
        const told = {
          kind,
          version: root,
          generation: head.generation,
          ...pin,
          ...canary,
          ...replaced,
          ...mended,
          ...unread,
          primary,
        };
        const diagnostics = [...compiled.diagnostics, ...(await stale)];
        watch.done(reportOf(result, compiled, attempt, diagnostics));
        const came = { ...told, diagnostics, compiled, result };
        return { made: came, haveChanged: haveChanged && kind === "published" };
      }
      throw new PortolanError(
        `HEAD moved ${maxAttempts} times while this compiled; somebody else publishes all the time`,
      );
    } catch (cause) {
      watch.failed(cause);
      throw cause;
    } finally {
      forget();
    }
  };
}

/** What was published, counted with what was written of it before. */
function withEarly(result: RecompiledWorld["result"], early: Laid | undefined): RecompiledWorld["result"] {
  if (early === undefined) return result;
  const { objects, bytes, mended } = result.written;
  return { ...result, written: { objects: objects + early.blobs.size, bytes: bytes + early.bytes, mended } };
}

/** One publisher for as long as the pace stays: it remembers what the next publish is compared with. */
function createPublishers(store: ObjectStore, encoder: WorldEncoder, options: PublisherOptions = {}) {
  let known: { readonly pollDelayMs: number | undefined; readonly publisher: Publisher } | undefined;
  let hasPublished = false;
  return {
    of(pollDelayMs: number | undefined): Publisher {
      if (known !== undefined && known.pollDelayMs === pollDelayMs) return known.publisher;
      const pace = options.pace ?? (pollDelayMs === undefined ? undefined : paceOf(pollDelayMs));
      const publisher = createPublisher(store, { ...options, ...(pace === undefined ? {} : { pace }) }, encoder);
      known = { pollDelayMs, publisher };
      return publisher;
    },
    remembers(): void {
      hasPublished = true;
    },
    /** The next one reads what it compares with. @returns whether there was anything to forget */
    forget(): boolean {
      const had = hasPublished;
      known = undefined;
      hasPublished = false;
      return had;
    },
  };
}

const reportOf = (
  { kind, head, root, written }: RecompiledWorld["result"],
  { value, memo }: Published["compiled"],
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
  options: Omit<RecompileOptions, "publisher" | "build" | "startLaying">,
): (staged?: Staged) => Promise<SourcesCompiled> {
  const { compile } = createStandingCompiler(options, createWorldEncoder());
  return (staged = unwatched) => compile(staged, undefined, Promise.resolve());
}

interface StandingCompiled extends SourcesCompiled {
  readonly early: Published["early"];
}

/** @param encoder the publisher's, so that nothing is encoded twice */
function createStandingCompiler(
  options: Omit<RecompileOptions, "publisher">,
  encoder: WorldEncoder,
): Compiling<StandingCompiled> {
  const { store, world = defaultWorldOptions, build, looksInto = false, texts } = options;
  // Later compiles make little.
  let { startLaying } = options;
  const readSources = createSourcesReader(store, texts);
  const standing = createStandingKeeper(store, readSources);
  const compilerFor = createCompilers(world);
  const looks = build !== undefined && !looksInto;
  const compile: Compiling<StandingCompiled>["compile"] = async (staged, base, filled) => {
    if (looks) standing.readAhead(base);
    const { settings, shards } = await staged("read", async () => {
      const [settings] = await Promise.all([settleSettings(store, givenSettings(options)), filled]);
      return { settings, shards: await readSources(settings.sources) };
    });
    const [primary] = shards;
    if (primary === undefined) throw new NothingFilled();
    const compilers = compilerFor(settings);
    const order = shards.map(({ name }) => name);
    const key = build && standingKey({ build, options: worldOptionsOf(settings, world), order });
    const found =
      key === undefined || looksInto
        ? undefined
        : await standing.before({ base, key, compilers, order: settings.sources });
    const laying = found === undefined ? startLaying?.() : undefined;
    startLaying = undefined;
    const onMade = laying && layLists(laying, encoder.runsOf);
    let early: StandingCompiled["early"];
    let compiled: FilesCompiled;
    try {
      compiled = compilers.compile(shards, staged, wholeWorld, { key, standing: found, onMade });
    } finally {
      early = laying?.end();
    }
    refuseRubbish(compiled, shards);
    return { primary: primary.name, compiled, settings, early };
  };
  return { compile, standing };
}

/** What a caller says about how to compile. */
const givenSettings = ({ sources, world, change }: RecompileOptions): Partial<RecordedSettings> => ({
  ...(sources === undefined ? {} : { sources }),
  ...(world === undefined ? {} : settingsOf(world)),
  ...change,
});

/** Compiles a world in slices, and one that is too small for that here. */
function createFannedCompiler(options: RecompileOptions, fanOut: FanOut, encoder: WorldEncoder): Compiling<Published> {
  const { store, build } = options;
  const here = createStandingCompiler(options, encoder);
  const compileSlices = createFannedCompile(store, fanOut, encoder, build);
  const compile: Compiling<Published>["compile"] = async (staged, base, filled) => {
    const [settings] = await Promise.all([settleSettings(store, givenSettings(options)), filled]);
    const fanned = await compileSlices(settings, staged);
    if (fanned === undefined) return here.compile(staged, base, filled);
    const { primary, world: value, laid } = fanned;
    const compiled = { value, diagnostics: value.diagnostics, memo: { hits: 0, misses: 0 } };
    return { primary, settings, compiled, laid };
  };
  return { compile, standing: here.standing };
}

/** One compiler for as long as the settings stay. */
function createCompilers(world: WorldOptions) {
  let known: { readonly text: string; readonly compilers: ShardCompilers } | undefined;
  return (settings: RecordedSettings): ShardCompilers => {
    const text = JSON.stringify(settings);
    if (known?.text !== text) known = { text, compilers: createShardCompilers(worldOptionsOf(settings, world)) };
    return known.compilers;
  };
}
