import type { ReadHead } from "../../snapshot/head/head.ts";
import type { Configuration } from "../../snapshot/root.ts";
import type { WorldEncoder } from "../../snapshot/worlds/encode-world.ts";
import { createUnreadSources, worldWithUnread } from "../shards/unread-sources.ts";
import { createFannedCompile, type FanOut } from "../slices/fan-out.ts";
import { noMemoUse, type Staged } from "../telemetry/observer.ts";
import { type RecordedSettings, settleSettings } from "../world/recorded-settings.ts";
import type { Compiling, HeldOnly, Published, RecompileOptions } from "./recompiled.ts";
import { createReusingCompiler, givenSettings } from "./reusing-compiler.ts";

interface Holding {
  readonly settings: RecordedSettings;
  readonly staged: Staged;
  readonly base: ReadHead | undefined;
}

/** Compiles a world in slices, and one that is too small for that here. */
export function createFannedCompiler(
  options: RecompileOptions,
  fanOut: FanOut,
  encoder: WorldEncoder,
): Compiling<Published> {
  const { store, build } = options;
  const here = createReusingCompiler(options, encoder);
  const compileSlices = createFannedCompile(store, fanOut, encoder, { build, held: options.held });
  const compile: Compiling<Published>["compile"] = async (staged, base, filled) => {
    const [settings] = await Promise.all([settleSettings(store, givenSettings(options)), filled]);
    const unread = createUnreadSources(store, base);
    const fanned = await compileSlices(settings, staged, unread.keeping);
    if (fanned === undefined) return here.compile(staged, base, filled);
    const { primary, world, prewritten, loaded } = fanned;
    const held = loaded === undefined ? {} : { loaded };
    const compiled = { ...worldWithUnread(world, unread), ...held, memo: noMemoUse };
    const withConfiguration = (configuration: Configuration) => holding({ settings, staged, base }, configuration);
    return { primary, settings, compiled, prewritten, withConfiguration };
  };
  const holding = async ({ settings, staged, base }: Holding, configuration: Configuration): Promise<HeldOnly> => {
    const unread = createUnreadSources(store, base);
    const fanned = await compileSlices(settings, staged, unread.keeping, configuration.sources);
    if (fanned === undefined) return here.compileHeld(staged, base, configuration);
    const { world, prewritten } = fanned;
    return { settings, world: worldWithUnread(world, unread).value, prewritten };
  };
  return {
    compile,
    async compileHeld(staged, base, configuration) {
      const settings = await settleSettings(store, givenSettings(options));
      return holding({ settings, staged, base }, configuration);
    },
    reusable: here.reusable,
  };
}
