import type { Stage } from "../config/diagnostic.ts";
import type { LoadedDirectory, SourceFile } from "../config/directory.ts";
import { emptyFolder, type FolderState, folderOf, joinFolders, readAgain, wholeFolder } from "../config/last-valid.ts";
import { createMemo } from "../mesh/memo/memo.ts";
import type { CompiledSource, CompiledWorld } from "../snapshot/compiled.ts";
import { compile } from "./compile.ts";
import { sortDiagnostics } from "./sort-diagnostics.ts";
import { type SourceShard, textsOfShard } from "./source-shard.ts";
import { type WorldOptions, worldOf } from "./world-of.ts";

export interface FilesCompiled extends Stage<CompiledWorld> {
  /** How many objects the files hold that could be read. */
  readonly objects: number;
  /** What was compiled. */
  readonly loaded: LoadedDirectory;
}

/**
 * Compiles sources, the primary first: its files by their own names, those of the others under their source's. What comes out
 * follows from the shards alone; a compiler remembers the ones before only so that a call costs what changed.
 */
export type ShardCompiler = (shards: readonly SourceShard[]) => FilesCompiled;

export function createShardCompiler(options: WorldOptions): ShardCompiler {
  const compileFolders = createFolderCompiler(options);
  let folders: ReadonlyMap<string, FolderState> = new Map();
  return (shards) => {
    folders = new Map(
      shards.map((shard, i) => {
        const under = i === 0 ? "" : `${shard.name}/`;
        const before = folders.get(shard.name);
        return [shard.name, folderOf(textsOfShard(shard), before?.under === under ? before : emptyFolder(under))];
      }),
    );
    const loaded = joinFolders([...folders.values()].map(wholeFolder));
    return compileFolders(
      loaded,
      shards.map(({ name, version }) => ({ name, version })),
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

function createFolderCompiler(options: WorldOptions) {
  const memo = createMemo();
  return (loaded: LoadedDirectory, sources: readonly CompiledSource[]): FilesCompiled => {
    const world = worldOf(loaded, options, memo);
    const compiled = compile(world.value, sources, memo);
    const diagnostics = sortDiagnostics([...loaded.diagnostics, ...world.diagnostics, ...compiled.diagnostics]);
    return {
      value: { ...compiled.value, diagnostics },
      diagnostics,
      objects: loaded.configs.length + loaded.objects.length + loaded.clusters.length,
      loaded,
    };
  };
}
