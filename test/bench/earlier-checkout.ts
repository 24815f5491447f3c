/** The whole way from files to a published root, in another checkout: of an earlier day, when its modules stood elsewhere. */
import type { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import type { SourceFile } from "../../lib/config/folder/directory.ts";
import type { fileStore } from "../../lib/storage/files/files.ts";
import { modulesIn } from "./checkout.ts";

type Store = ReturnType<typeof fileStore>;

interface Compiling {
  readonly store: Store;
  readonly sources: readonly string[];
  readonly world: typeof defaultWorldOptions;
  readonly build: string;
}

type Recompiler = (options: Compiling) => () => Promise<unknown>;

/** What is taken of the other checkout. Its recompiler had another name once. */
interface Earlier {
  readonly fileStore: typeof fileStore;
  readonly defaultWorldOptions: typeof defaultWorldOptions;
  readonly writeShard: (store: Store, source: string, files: readonly SourceFile[]) => Promise<unknown>;
  readonly createWorldRecompiler?: Recompiler;
  readonly createRecompiler?: Recompiler;
}

/** Modules, each by the places in which it has stood, the newest first. */
const modules = [
  ["lib/storage/files/files.ts", "lib/storage/files.ts"],
  ["lib/compile/world/world-of.ts", "lib/compile/world-of.ts"],
  ["lib/compile/recompile.ts"],
  ["lib/compile/shards/write-shard.ts", "lib/compile/source-shard.ts"],
];

/**
 * @param folder of the store
 * @returns has files compiled and published
 * @throws if the checkout lacks a module
 */
export async function openEarlier(
  checkout: string,
  folder: string,
): Promise<(files: readonly SourceFile[]) => Promise<void>> {
  const earlier = await modulesIn<Earlier>(checkout, modules);
  const create = earlier.createWorldRecompiler ?? earlier.createRecompiler;
  if (create === undefined) throw new Error(`${checkout} has nothing that compiles what lies in a store`);
  const store = earlier.fileStore(folder);
  const options = { sources: ["main"], world: earlier.defaultWorldOptions, build: "that of the benchmark" };
  const recompile = create({ store, ...options });
  return async (files) => {
    await earlier.writeShard(store, "main", files);
    await recompile();
  };
}
