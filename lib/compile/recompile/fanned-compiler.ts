import type { WorldEncoder } from "../../snapshot/worlds/encode-world.ts";
import { settleSettings } from "../recorded-settings.ts";
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
    const fanned = await compileSlices(settings, staged);
    if (fanned === undefined) return here.compile(staged, base, filled);
    const { primary, world: value, laid } = fanned;
    const compiled = { value, diagnostics: value.diagnostics, memo: { hits: 0, misses: 0 } };
    return { primary, settings, compiled, laid };
  };
  return { compile, standing: here.standing };
}
