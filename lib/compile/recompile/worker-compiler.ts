import { newestRoot, type ReadHead } from "../../snapshot/head/head.ts";
import type { Configuration } from "../../snapshot/root.ts";
import { compilerVersion } from "../compile.ts";
import { nothingWithheld, versionsBesideWithheld } from "../isolation/withheld-sources.ts";
import { pinnedVersions } from "../shards/pinned-configuration.ts";
import { createUnreadSources, worldWithUnread } from "../shards/unread-sources.ts";
import { compileInMemoryLimit, type MadeInMemoryLimit } from "../slices/compile-in-memory-limit.ts";
import { noMemoUse, type Staged } from "../telemetry/observer.ts";
import { NothingFilled } from "../world/nothing-filled.ts";
import { settleSettings } from "../world/recorded-settings.ts";
import type { Compiling, HeldCompiled, Published, RecompileOptions } from "./recompiled.ts";
import { givenSettings } from "./reusing-compiler.ts";

/** Compiles a world that is too large to be held, and keeps nothing of it. @param of how many slices its answers are made in */
export function createWorkerCompiler(options: RecompileOptions, of: number): Compiling<Published> {
  const { store, build, held = () => nothingWithheld } = options;
  let readsAll = false;
  const prepare = async (base: ReadHead | undefined, staged: Staged, filled: Promise<unknown>) => {
    const [settings] = await Promise.all([settleSettings(store, givenSettings(options)), filled]);
    const unread = createUnreadSources(store, base);
    const sources = await staged("read", () => versionsBesideWithheld(store, settings.sources, held(), unread.keeping));
    if (sources.length === 0) throw unread.nothingRead() ?? new NothingFilled();
    const known = build === undefined ? {} : { build };
    const newest = base && newestRoot(base.head);
    const make = (versions: typeof sources): Promise<MadeInMemoryLimit> =>
      compileInMemoryLimit(
        store,
        { compiler: compilerVersion, ...known, sources: versions, settings, of },
        { newest, readsAll, staged },
      );
    const withConfiguration = async (configuration: Configuration): Promise<HeldCompiled> => {
      const { world, prewritten } = await make(pinnedVersions(sources, configuration.sources));
      return { world: worldWithUnread(world, unread).value, prewritten };
    };
    return { settings, unread, sources, make, withConfiguration };
  };
  return {
    async compile(staged, base, filled) {
      const { settings, unread, sources, make, withConfiguration } = await prepare(base, staged, filled);
      const { world, prewritten } = await make(sources);
      const compiled = { ...worldWithUnread(world, unread), memo: noMemoUse };
      const primary = sources[0]?.name ?? "";
      return { primary, settings, compiled, prewritten, withConfiguration };
    },
    async compileHeld(staged, base, configuration) {
      const { settings, withConfiguration } = await prepare(base, staged, Promise.resolve());
      return { settings, ...(await withConfiguration(configuration)) };
    },
    reusable: {
      moved() {},
      // The way from what is served leads through parts that were not read.
      drop() {
        readsAll = true;
      },
    },
  };
}
