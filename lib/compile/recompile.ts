import { readHead } from "../snapshot/head/head.ts";
import type { Publishing } from "../snapshot/publish.ts";
import { createWorldEncoder } from "../snapshot/worlds/encode-world.ts";
import { createCompileLoop } from "./recompile/compile-loop.ts";
import { createFannedCompiler } from "./recompile/fanned-compiler.ts";
import type { Published, Recompiled, RecompiledWorld, RecompileOptions } from "./recompile/recompiled.ts";
import { createStandingCompiler, type SourcesCompiled } from "./recompile/standing-compiler.ts";
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

/** Compiles what all sources of a store hold, and publishes nothing. */
export function createSourcesCompiler(
  options: Omit<RecompileOptions, "publisher" | "build" | "startLaying">,
): (staged?: Staged) => Promise<SourcesCompiled> {
  const { compile } = createStandingCompiler(options, createWorldEncoder());
  return async (staged = unwatched) => compile(staged, await readHead(options.store), Promise.resolve());
}
