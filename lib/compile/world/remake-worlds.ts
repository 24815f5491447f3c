import { PortolanError } from "../../base/diagnostic.ts";
import type { CompiledSource, CompiledWorld } from "../../snapshot/compiled.ts";
import type { Remake } from "../../snapshot/upkeep/repair.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { createShardCompiler } from "../compile-files.ts";
import { reuseKey } from "../reuse/open-reusable.ts";
import { readSource } from "../shards/read-source.ts";
import { createSourcesReader } from "../shards/read-sources.ts";
import { sourceNames } from "../shards/source-names.ts";
import { wholeWorld } from "../slices/slice.ts";
import { unwatched } from "../telemetry/observer.ts";
import { settleSettings, worldOptionsOf } from "./recorded-settings.ts";
import { defaultWorldOptions } from "./world-of.ts";

/**
 * Compiles a store's sources as they are and as they were, with the settings that are recorded; what cannot be read is passed over.
 *
 * @param build of the compiler, as `RecompileOptions` has it: with it roots come out to the byte that say how they were made
 */
export function remakeWorlds(store: ObjectStore, build?: string): Remake {
  const readSources = createSourcesReader(store);
  return async function* remade(versions): AsyncGenerator<CompiledWorld> {
    const settings = await settleSettings(store, {});
    const options = worldOptionsOf(settings, defaultWorldOptions);
    const compile = createShardCompiler(options);
    const ways: readonly (readonly CompiledSource[] | undefined)[] = [undefined, ...versions];
    for (const way of ways) {
      const shards = await readSources(settings.sources, way).catch(nothingToRead);
      const order = shards.map(({ name }) => name);
      const key = build && reuseKey({ build, options, order });
      if (shards.length > 0) yield compile(shards, unwatched, wholeWorld, { key }).value;
    }
  };
}

function nothingToRead(cause: unknown): readonly [] {
  if (cause instanceof PortolanError) return [];
  throw cause;
}

/** What is wrong with sources, in words: only whoever fills them can mend that. */
export async function sourceProblems(store: ObjectStore): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const name of await sourceNames(store)) {
    await readSource(store, name).catch((cause: unknown) => {
      if (!(cause instanceof PortolanError)) throw cause;
      problems.push(cause.message);
    });
  }
  return problems;
}
