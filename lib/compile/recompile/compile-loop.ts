import { causeText } from "../../base/cause-text.ts";
import { type Diagnostic, PortolanError } from "../../base/diagnostic.ts";
import type { Beside } from "../../snapshot/head/transition.ts";
import { readOnce } from "../../snapshot/memoize/read-once.ts";
import { isOfSettings } from "../../snapshot/nodes/refusals.ts";
import { missedBlobKey } from "../../snapshot/nodes/wanted.ts";
import type { Prewritten } from "../../snapshot/prewrite.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import { withRetained } from "../../snapshot/retained.ts";
import { isUnread } from "../../snapshot/reuse/stored-part.ts";
import { createWorldEncoder, type WorldEncoder } from "../../snapshot/worlds/encode-world.ts";
import { staleSources } from "../collected/stale-sources.ts";
import { haveChangedSince } from "../shards/changed-since.ts";
import { fillRegistered } from "../shards/registered-shard.ts";
import { fillWanted } from "../shards/wanted-shard.ts";
import { type CompileReport, countOf, countOfCode, noObserver, stagedBy } from "../telemetry/observer.ts";
import { refuseClosed } from "../world/closed-world.ts";
import { pinnedWorlds } from "./pinned-worlds.ts";
import { createPublishers } from "./publishers.ts";
import type { Compiling, Published, Recompiled, RecompiledWorld, RecompileOptions } from "./recompiled.ts";

const maxAttempts = 6;

const lost = { kind: "lost" } as const;

/** What came of a compile that was published. */
interface CompiledOnce<C extends Published> extends Recompiled {
  readonly compiled: C["compiled"];
  readonly result: RecompiledWorld["result"];
}

export type CompileLoop<C extends Published> = (
  publishing?: Publishing,
  mayPublish?: () => Promise<void>,
) => Promise<CompiledOnce<C>>;

/** @returns and whether the sources are others by now than what was published; false where nothing was */
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
    // A canary stays the one that was asked for. Everybody follows services and endpoints all the same, as with any publish.
    const isCanary = publishing?.share !== undefined;
    const second = await compile(isCanary ? undefined : publishing, mayPublish).catch((cause: unknown) => {
      throw unsettled(first, cause);
    });
    return isCanary || second.made.kind === "unchanged" ? first : second.made;
  };
}

/** Whoever asked is to ask again: a source that was put back would otherwise stay as it was published until another process writes one. */
function unsettled({ generation }: Pick<Recompiled, "generation">, cause: unknown): PortolanError {
  const diagnostics = cause instanceof PortolanError ? cause.diagnostics : [];
  return new PortolanError(
    `generation ${generation} is published, but the sources may have changed while it was compiled, and compiling them again failed: ` +
      `${causeText(cause)}. It is served until the next compile; ask for one`,
    diagnostics,
    cause,
  );
}

/** @param createCompiling of whose options the store reads each blob once in a compile */
export function createCompileLoop<C extends Published>(
  options: RecompileOptions,
  createCompiling: (options: RecompileOptions, encoder: WorldEncoder) => Compiling<C>,
): CompileLoop<C> {
  const encoder = createWorldEncoder();
  const { store, forget } = readOnce(options.store);
  const reading = { ...options, store };
  const compile = compileOnce(reading, createCompiling(reading, encoder), encoder, forget);
  return lookingOnceMore((...asked) => withRetained(() => compile(...asked)));
}

/** The same, once and where there is little room: nothing is held that can be read or made again. */
export function createLoopInRoom<C extends Published>(
  options: RecompileOptions,
  compiling: Compiling<C>,
): CompileLoop<C> {
  return lookingOnceMore(compileOnce(options, compiling, createWorldEncoder(), () => {}));
}

/** Compiles until nobody else was faster. @param forget what was read of the store */
function compileOnce<C extends Published>(
  options: RecompileOptions,
  { compile, reusable }: Compiling<C>,
  encoder: WorldEncoder,
  forget: () => void,
): LookingCompile<C> {
  const { store, onCompiled, now = Date.now } = options;
  const publishers = createPublishers(store, encoder, options.publisher);
  let pollDelayMs: number | undefined;
  const { observer = noObserver } = options;
  const compileOne: LookingCompile<C> = async (publishing, mayPublish = async () => {}) => {
    const watch = observer.begin();
    const staged = stagedBy(watch);
    try {
      for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
        forget();
        // HEAD first: whoever publishes a newer world meanwhile makes this attempt lose.
        const base = await publishers.of(pollDelayMs).head();
        const filled = Promise.all([fillWanted(store, now), fillRegistered(store, now)]).then(([wanted]) => wanted);
        filled.catch(() => {});
        const made = await compile(staged, base, filled);
        const { isBlobMissed } = await filled;
        // The publisher that comes next has looked at no blob, and looks at all.
        if (isBlobMissed) publishers.forget();
        const { primary, settings } = made;
        const compiled: C["compiled"] = made.compiled;
        refuseClosed(settings.securityFailure, compiled.diagnostics);
        ({ pollDelayMs } = settings);
        const publisher = publishers.of(pollDelayMs);
        onCompiled?.();
        const held = await pinnedWorlds(store, { base, publishing, newest: compiled.value }, made.withConfiguration);
        const prewritten = prewrittenOf([
          made.prewritten ?? made.early?.then(({ blobs }) => blobs),
          ...held.prewritten,
        ]);
        let haveChanged = false;
        const beside: Beside = {
          ...(prewritten === undefined ? {} : { prewritten }),
          mayMove: mayPublish,
          moved: async () => {
            // A look that fails has not shown that the sources are as they were: the next one reads them.
            haveChanged = await haveChangedSince(store, compiled.value.sources).catch(() => true);
          },
        };
        const publish = () => publisher.publish(compiled.value, base, publishing, beside, held.worlds);
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
          if (!publishers.forget()) reusable.drop();
          return lost;
        });
        if (published.kind === "lost") continue;
        const result = withEarly(published, await made.early);
        reusable.moved(result.head);
        // A front that still misses something reports it again.
        if (isBlobMissed) await store.delete(missedBlobKey);
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
        const diagnostics = [...compiled.diagnostics, ...held.diagnostics, ...(await stale)];
        watch.done(reportOf(result, made, attempt, diagnostics));
        const came = { ...told, diagnostics, compiled, result };
        return { made: came, haveChanged };
      }
      throw new PortolanError(
        `HEAD moved ${maxAttempts} times while this compiled; another process publishes all the time`,
      );
    } catch (cause) {
      watch.failed(cause);
      throw cause;
    } finally {
      forget();
    }
  };
  return compileOne;
}

/** Blobs that lie in the store already, of all worlds; undefined where there are none. */
function prewrittenOf(
  parts: readonly (ReadonlySet<string> | Promise<ReadonlySet<string>> | undefined)[],
): Beside["prewritten"] | undefined {
  const [first, ...more] = parts.filter((part) => part !== undefined);
  if (more.length === 0) return first;
  return Promise.all([first, ...more]).then((sets) => new Set(sets.flatMap((set) => [...(set ?? [])])));
}

/** What was published, counted with what was written of it before. */
function withEarly(result: RecompiledWorld["result"], early: Prewritten | undefined): RecompiledWorld["result"] {
  if (early === undefined) return result;
  const { objects, bytes, mended } = result.written;
  return { ...result, written: { objects: objects + early.blobs.size, bytes: bytes + early.bytes, mended } };
}

const reportOf = (
  { kind, head, root, written }: RecompiledWorld["result"],
  { compiled: { value, memo }, missed }: Published,
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
  ...(missed === undefined ? {} : { missed }),
  errors: countOf(diagnostics, "error"),
  warnings: countOf(diagnostics, "warning"),
  settingsErrors: countOf(diagnostics.filter(isOfSettings), "error"),
  closed: countOfCode(diagnostics, "security-closed"),
  open: countOfCode(diagnostics, "security-open"),
});
