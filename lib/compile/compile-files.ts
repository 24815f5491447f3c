import type { Stage } from "../config/diagnostic.ts";
import type { SourceFile } from "../config/directory.ts";
import { noFolder, readAgain, wholeFolder } from "../config/last-valid.ts";
import { createMemo } from "../mesh/memo/memo.ts";
import type { CompiledSource, CompiledWorld } from "../snapshot/compiled.ts";
import { compile } from "./compile.ts";
import { sortDiagnostics } from "./sort-diagnostics.ts";
import { type WorldOptions, worldOf } from "./world-of.ts";

export interface FilesCompiled extends Stage<CompiledWorld> {
  /** How many objects the files hold that could be read. */
  readonly objects: number;
}

/** Compiles files; remembers the ones before, so that a call costs what changed, and an object that breaks keeps its last valid form. */
export type FileCompiler = (files: readonly SourceFile[], sources: readonly CompiledSource[]) => FilesCompiled;

export function createFileCompiler(options: WorldOptions): FileCompiler {
  const memo = createMemo();
  let folder = noFolder;
  return (files, sources) => {
    folder = readAgain(folder, files);
    const loaded = wholeFolder(folder);
    const world = worldOf(loaded, options, memo);
    const compiled = compile(world.value, sources, memo);
    const diagnostics = sortDiagnostics([...loaded.diagnostics, ...world.diagnostics, ...compiled.diagnostics]);
    return {
      value: { ...compiled.value, diagnostics },
      diagnostics,
      objects: loaded.configs.length + loaded.objects.length,
    };
  };
}
