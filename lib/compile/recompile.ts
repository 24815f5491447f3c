import { readHead } from "../snapshot/head/head.ts";
import type { Publishing } from "../snapshot/publish.ts";
import { createWorldEncoder } from "../snapshot/worlds/encode-world.ts";
import { type CompileLoop, createCompileLoop, createLoopInRoom } from "./recompile/compile-loop.ts";
import { createFannedCompiler } from "./recompile/fanned-compiler.ts";
import type { MemoryLimits, Published, Recompiled, RecompiledWorld, RecompileOptions } from "./recompile/recompiled.ts";
import { createReusingCompiler, type SourcesCompiled } from "./recompile/reusing-compiler.ts";
import { createWorkerCompiler } from "./recompile/worker-compiler.ts";
import { maxSlices } from "./slices/plan.ts";
import { sourceBytes } from "./slices/source-versions.ts";
import { type Staged, unwatched } from "./telemetry/observer.ts";

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
  const { fanOut, memoryLimits, onPublished } = options;
  const open = () =>
    createCompileLoop<Published>(options, (reading, encoder) =>
      fanOut === undefined ? createReusingCompiler(reading, encoder) : createFannedCompiler(reading, fanOut, encoder),
    );
  const recompile = memoryLimits === undefined ? open() : loopInMemoryLimits(options, memoryLimits, open);
  return async (publishing, mayPublish) => {
    const { compiled, result: _result, ...told } = await recompile(publishing, mayPublish);
    onPublished?.(told.version, compiled.loaded);
    return told;
  };
}

/** Compiles a world that there is room for in one loop, which remembers, and a larger one in a loop of its own each time. */
function loopInMemoryLimits(
  options: RecompileOptions,
  { wholeBytes, sliceBytes }: MemoryLimits,
  open: () => CompileLoop<Published>,
): CompileLoop<Published> {
  let whole: CompileLoop<Published> | undefined;
  return async (...asked) => {
    const bytes = await sourceBytes(options.store, wholeBytes);
    if (bytes <= wholeBytes) {
      whole ??= open();
      return whole(...asked);
    }
    whole = undefined;
    const of = Math.min(maxSlices, Math.ceil(bytes / sliceBytes));
    return createLoopInRoom(options, createWorkerCompiler(options, of))(...asked);
  };
}

/** The same, in this process whatever `fanOut` says, for whoever looks at the world too. */
export function createWorldRecompiler(
  options: Omit<RecompileOptions, "fanOut" | "memoryLimits">,
): (publishing?: Publishing, mayPublish?: () => Promise<void>) => Promise<RecompiledWorld> {
  return createCompileLoop(options, createReusingCompiler);
}

/** Compiles what all sources of a store hold, and publishes nothing. */
export function createSourcesCompiler(
  options: Omit<RecompileOptions, "publisher" | "build" | "startPrewrite" | "memoryLimits">,
): (staged?: Staged) => Promise<SourcesCompiled> {
  const { compile } = createReusingCompiler(options, createWorldEncoder());
  return async (staged = unwatched) => compile(staged, await readHead(options.store), Promise.resolve());
}
