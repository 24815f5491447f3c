import type { WorldEncoder } from "../../snapshot/worlds/encode-world.ts";
import { withEarlier } from "../compile-files.ts";
import { settleSettings } from "../recorded-settings.ts";
import { createUnreadSources } from "../shards/unread-sources.ts";
import { createFannedCompile, type FanOut } from "../slices/fan-out.ts";
import type { Compiling, Published, RecompileOptions } from "./recompiled.ts";
import { createStandingCompiler, givenSettings } from "./standing-compiler.ts";

/** Compiles a world in slices, and one that is too small for that here. */
export function createFannedCompiler(
  options: RecompileOptions,
  fanOut: FanOut,
  encoder: WorldEncoder,
): Compiling<Published> {
  const { store, build } = options;
  const here = createStandingCompiler(options, encoder);
  const compileSlices = createFannedCompile(store, fanOut, encoder, { build, held: options.held });
  const compile: Compiling<Published>["compile"] = async (staged, base, filled) => {
    const [settings] = await Promise.all([settleSettings(store, givenSettings(options)), filled]);
    const unread = createUnreadSources(store, base);
    const fanned = await compileSlices(settings, staged, unread.keeping);
    if (fanned === undefined) return here.compile(staged, base, filled);
    const { primary, world, laid } = fanned;
    const joined = { value: world, diagnostics: world.diagnostics };
    const compiled = {
      ...(unread.diagnostics().length === 0 ? joined : withEarlier(joined, unread.diagnostics())),
      memo: { hits: 0, misses: 0 },
    };
    return { primary, settings, compiled, laid };
  };
  return { compile, standing: here.standing };
}
