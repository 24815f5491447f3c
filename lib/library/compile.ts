import type { Stage } from "../base/diagnostic.ts";
import { createFolderCompiler } from "../compile/compile-files.ts";
import { defaultWorldOptions } from "../compile/world/world-of.ts";
import type { LoadedDirectory } from "../config/folder/directory.ts";
import type { CompiledWorld } from "../snapshot/compiled.ts";

/** How to compile; what is absent is as usual. */
export interface CompileOptions {
  /** Domain suffix of Kubernetes services; `cluster.local`. */
  readonly domain?: string;
  /** Id of the cluster that the Kubernetes objects at the top belong to; `Kubernetes`. */
  readonly clusterId?: string;
  /** Where proxies get their certificates: from an agent that speaks SDS (`sds`, as usual), from files, or nowhere. */
  readonly certificates?: "sds" | "files" | "none";
  /** How long Envoys wait between polls, as their bootstraps say too; 1000. */
  readonly pollDelayMs?: number;
  /** Make the answers of the REST v1 API as well, as this release gave them. */
  readonly legacyApi?: "0.7" | "0.8";
}

/** What files said, compiled: every answer of every class of proxies, and everything there is to say about the input. */
export type Compile = (loaded: LoadedDirectory) => Stage<CompiledWorld>;

/**
 * A compiler that remembers what it made, so that its next call costs what changed since the one before. It gives the same bytes as a
 * new one.
 */
export function createCompiler(options: CompileOptions = {}): Compile {
  const compileFolder = createFolderCompiler({ ...defaultWorldOptions, ...options });
  return (loaded) => {
    const { value, diagnostics } = compileFolder(loaded, []);
    return { value, diagnostics };
  };
}

/**
 * Compiles once.
 *
 * @param loaded what `readFiles` gave
 * @returns never fails on input: what cannot be compiled is left out, and said in a diagnostic
 */
export const compile = (loaded: LoadedDirectory, options?: CompileOptions): Stage<CompiledWorld> =>
  createCompiler(options)(loaded);
