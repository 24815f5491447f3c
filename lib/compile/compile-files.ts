import type { Stage } from "../config/diagnostic.ts";
import type { LoadedDirectory, SourceFile } from "../config/folder/directory.ts";
import { emptyFolder, type FolderState, folderOf, readAgain, wholeFolder } from "../config/folder/last-valid.ts";
import { createMemo, type Memo } from "../mesh/memo/memo.ts";
import { type ConsulHost, type ConsulListing, consulHost } from "../registry/consul/convert.ts";
import type { CompiledSource, CompiledWorld } from "../snapshot/compiled.ts";
import { joinShards } from "./collected/join-shards.ts";
import { type CollectedLoader, createCollectedLoader, type LoadedShard } from "./collected/load-collected.ts";
import { compile } from "./compile.ts";
import { isCollected, type Shard } from "./shards/read-sources.ts";
import { textsOfShard } from "./shards/source-shard.ts";
import { type Slice, wholeWorld } from "./slices/slice.ts";
import { sortDiagnostics } from "./sort-diagnostics.ts";
import { type MemoUse, type Staged, unwatched } from "./telemetry/observer.ts";
import { type WorldOptions, worldOf } from "./world-of.ts";

export interface FilesCompiled extends Stage<CompiledWorld> {
  /** How many objects the files hold that could be read. */
  readonly objects: number;
  /** What was compiled. */
  readonly loaded: LoadedDirectory & {
    /** Hosts that none of its objects tells of, those of Consul. */
    readonly otherHosts: readonly ConsulHost[];
  };
  /** How much of it was remembered from compiles before. */
  readonly memo: MemoUse;
}

/**
 * Compiles sources, the primary first: its files by their own names, those of the others under their source's. What comes out
 * follows from the shards alone; a compiler remembers the ones before only so that a call costs what changed.
 */
export type ShardCompiler = (shards: readonly Shard[], staged?: Staged, slice?: Slice) => FilesCompiled;

export function createShardCompiler(options: WorldOptions): ShardCompiler {
  const compileFolders = createFolderCompiler(options);
  let folders: ReadonlyMap<string, FolderState> = new Map();
  const loaders = new Map<string, CollectedLoader>();
  const load = (name: string): CollectedLoader => {
    const loader = loaders.get(name) ?? createCollectedLoader();
    loaders.set(name, loader);
    return loader;
  };
  return (shards, staged = unwatched, slice = wholeWorld) => {
    const states = new Map<string, FolderState>();
    const loaded = shards.map((shard, i): LoadedShard => {
      if (isCollected(shard)) return load(shard.name)(shard);
      const under = i === 0 ? "" : `${shard.name}/`;
      const before = folders.get(shard.name);
      const state = folderOf(textsOfShard(shard), before?.under === under ? before : emptyFolder(under));
      states.set(shard.name, state);
      return { content: wholeFolder(state) };
    });
    folders = states;
    const { content, consul, primaryCluster = options.clusterId } = joinShards(loaded);
    return compileFolders(
      content,
      shards.map(({ name, version }) => ({ name, version })),
      { clusterId: primaryCluster, consul },
      staged,
      slice,
    );
  };
}

/** Compiles the files of one folder that lies in no store; an object that breaks from call to call keeps its last valid form. */
export type FileCompiler = (files: readonly SourceFile[], sources: readonly CompiledSource[]) => FilesCompiled;

export function createFileCompiler(options: WorldOptions): FileCompiler {
  const compileFolders = createFolderCompiler(options);
  let folder = emptyFolder("");
  return (files, sources) => {
    folder = readAgain(folder, files);
    return compileFolders(wholeFolder(folder), sources);
  };
}

/** What no folder says. */
interface Beside {
  readonly clusterId?: string;
  readonly consul?: readonly ConsulListing[];
}

/** Compiles what was read already. Remembers what it made, by what it was made from. */
export function createFolderCompiler(options: WorldOptions) {
  const memo = createMemo();
  return (
    loaded: LoadedDirectory,
    sources: readonly CompiledSource[],
    { clusterId = options.clusterId, consul = [] }: Beside = {},
    staged = unwatched,
    slice = wholeWorld,
  ): FilesCompiled => {
    const before = memoUseOf(memo);
    const world = staged("world", () => worldOf(loaded, { ...options, clusterId }, memo, consul));
    const compiled = compile(world.value, sources, memo, staged, slice);
    const after = memoUseOf(memo);
    const diagnostics = sortDiagnostics([...loaded.diagnostics, ...world.diagnostics, ...compiled.diagnostics]);
    return {
      value: { ...compiled.value, diagnostics },
      diagnostics,
      objects: loaded.configs.length + loaded.objects.length + loaded.clusters.length + consul.length,
      loaded: { ...loaded, otherHosts: consul.map(consulHost) },
      memo: { hits: after.hits - before.hits, misses: after.misses - before.misses },
    };
  };
}

const memoUseOf = ({ known }: Memo): MemoUse => ({ hits: known?.hits ?? 0, misses: known?.misses ?? 0 });
