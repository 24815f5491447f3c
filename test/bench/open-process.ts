/** The whole way from files to a published root, in a process that has compiled nothing yet. */

import type { RecompiledWorld, RecompileOptions } from "../../lib/compile/recompile/recompiled.ts";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { createShardWriter } from "../../lib/compile/shards/write-shard.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import type { SourceFile } from "../../lib/config/folder/directory.ts";
import { createReadAhead } from "../../lib/config/folder/files/read-ahead.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";

/** @returns has a folder compiled and published */
export function openProcess(
  store: ObjectStore,
  { world = defaultWorldOptions, startPrewrite }: Pick<RecompileOptions, "world" | "startPrewrite"> = {},
): (input: readonly SourceFile[]) => Promise<RecompiledWorld["result"]> {
  const texts = new Map<string, string>();
  const ahead = createReadAhead();
  const write = createShardWriter(store, "main", texts);
  const build = "that of the benchmark";
  const recompile = createWorldRecompiler({ store, sources: ["main"], world, build, texts, ahead, startPrewrite });
  return async (input) => {
    await write(input, { ahead });
    return (await recompile()).result;
  };
}
