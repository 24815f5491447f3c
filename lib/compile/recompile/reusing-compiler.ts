import type { ReadAhead } from "../../config/folder/files/read-ahead.ts";
import type { ReadHead } from "../../snapshot/head/head.ts";
import type { Configuration } from "../../snapshot/root.ts";
import type { WorldEncoder } from "../../snapshot/worlds/encode-world.ts";
import { createShardCompilers, type FilesCompiled, type ShardCompilers } from "../compile-files.ts";
import { nothingWithheld, versionsBesideWithheld } from "../isolation/withheld-sources.ts";
import { prewriteLists } from "../prewrite-lists.ts";
import { createReusableKeeper } from "../reuse/keep-reusable.ts";
import { reuseKey } from "../reuse/open-reusable.ts";
import type { ReusableResults } from "../reuse/reusable.ts";
import { createPinnedConfigurations } from "../shards/pinned-configuration.ts";
import { createSourcesReader } from "../shards/read-sources.ts";
import { refuseRubbish } from "../shards/refuse-empty.ts";
import type { Shard } from "../shards/shard.ts";
import { createUnreadSources, type UnreadSources, withUnread } from "../shards/unread-sources.ts";
import { wholeWorld } from "../slices/slice.ts";
import type { Staged } from "../telemetry/observer.ts";
import { NothingFilled } from "../world/nothing-filled.ts";
import { type RecordedSettings, settingsOf, settleSettings, worldOptionsOf } from "../world/recorded-settings.ts";
import { defaultWorldOptions, type WorldOptions } from "../world/world-of.ts";
import type { Compiling, HeldCompiled, Published, RecompileOptions } from "./recompiled.ts";

export interface SourcesCompiled {
  readonly primary: string;
  readonly compiled: FilesCompiled;
  readonly settings: RecordedSettings;
}

interface ReusingCompiled extends SourcesCompiled {
  readonly early: Published["early"];
  readonly missed: Published["missed"];
  readonly withConfiguration: Published["withConfiguration"];
}

/** All that a compile needs, with the sources as they were read. */
interface Prepared {
  readonly settings: RecordedSettings;
  readonly shards: readonly Shard[];
  readonly unread: UnreadSources;
  readonly compilers: ShardCompilers;
  readonly key: string | undefined;
  readonly found: ReusableResults | undefined;
  readonly missed: Published["missed"];
}

/** @param encoder the publisher's, so that nothing is encoded twice */
export function createReusingCompiler(
  options: Omit<RecompileOptions, "publisher">,
  encoder: WorldEncoder,
): Compiling<ReusingCompiled> {
  const { store, world = defaultWorldOptions, build, looksInto = false, texts, ahead } = options;
  const { held = () => nothingWithheld } = options;
  // Later compiles make little.
  let { startPrewrite } = options;
  const readSources = createSourcesReader(store, texts);
  const holdConfiguration = createPinnedConfigurations(store);
  const reusable = createReusableKeeper(store, readSources);
  const compilerFor = createCompilers(world, ahead);
  const looks = build !== undefined && !looksInto;
  const prepare = async (staged: Staged, base: ReadHead | undefined, filled: Promise<unknown>): Promise<Prepared> => {
    if (looks) reusable.readAhead(base);
    const unread = createUnreadSources(store, base);
    const { settings, shards } = await staged("read", async () => {
      const [settings] = await Promise.all([settleSettings(store, givenSettings(options)), filled]);
      const without = held();
      const versions =
        without.size === 0 ? undefined : await versionsBesideWithheld(store, settings.sources, without, unread.keeping);
      return { settings, shards: await readSources(settings.sources, versions, unread.keeping) };
    });
    if (shards.length === 0) throw unread.nothingRead() ?? new NothingFilled();
    const compilers = compilerFor(settings);
    const order = shards.map(({ name }) => name);
    const key = build && reuseKey({ build, options: worldOptionsOf(settings, world), order });
    const { reusable: found, missed } =
      key === undefined || looksInto ? {} : await reusable.before({ base, key, compilers, order: settings.sources });
    return { settings, shards, unread, compilers, key, found, missed };
  };
  const holding = async (
    { shards, unread, compilers, key, found }: Prepared,
    { sources }: Configuration,
    staged: Staged,
  ): Promise<HeldCompiled> => {
    const heldShards = await staged("read", () => holdConfiguration(shards, sources));
    const compiled = compilers.compile(heldShards, staged, wholeWorld, { key, reusable: found });
    return { world: withUnread(compiled, unread).value };
  };
  const compile: Compiling<ReusingCompiled>["compile"] = async (staged, base, filled) => {
    const prepared = await prepare(staged, base, filled);
    const { settings, shards, unread, compilers, key, found, missed } = prepared;
    const prewrite = found === undefined ? startPrewrite?.() : undefined;
    startPrewrite = undefined;
    const onMade = prewrite && prewriteLists(prewrite, encoder.runsOf);
    let early: ReusingCompiled["early"];
    let compiled: FilesCompiled;
    try {
      compiled = compilers.compile(shards, staged, wholeWorld, { key, reusable: found, onMade });
    } finally {
      early = prewrite?.end();
    }
    compiled = { ...compiled, ...withUnread(compiled, unread) };
    refuseRubbish(compiled, shards);
    const primary = shards[0]?.name ?? "";
    const withConfiguration = (configuration: Configuration) => holding(prepared, configuration, staged);
    return { primary, compiled, settings, early, missed, withConfiguration };
  };
  return {
    compile,
    async compileHeld(staged, base, configuration) {
      const prepared = await prepare(staged, base, Promise.resolve());
      return { settings: prepared.settings, ...(await holding(prepared, configuration, staged)) };
    },
    reusable,
  };
}

/** What a caller says about how to compile. */
export const givenSettings = ({ sources, world, change }: RecompileOptions): Partial<RecordedSettings> => ({
  ...(sources === undefined ? {} : { sources }),
  ...(world === undefined ? {} : settingsOf(world)),
  ...change,
});

/** One compiler for as long as the settings stay. */
function createCompilers(world: WorldOptions, ahead: ReadAhead | undefined) {
  let known: { readonly text: string; readonly compilers: ShardCompilers } | undefined;
  return (settings: RecordedSettings): ShardCompilers => {
    const text = JSON.stringify(settings);
    if (known?.text !== text) known = { text, compilers: createShardCompilers(worldOptionsOf(settings, world), ahead) };
    return known.compilers;
  };
}
