import { createAnalysis } from "../analysis/remembered-analysis.ts";
import type { Diagnostic } from "../config/diagnostic.ts";
import { isSecret } from "../config/secrets/secret-objects.ts";
import { readAnalysis, writeAnalysis } from "../snapshot/analysis-record.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { FilesCompiled } from "./compile-files.ts";

/** A world of more objects is not analysed by what compiles it: `portolan analyze` does that for any world. */
export const maxAnalyzedObjects = 20_000;

/**
 * Sources may hold no Secret at all, since `portolan secret apply` puts secrets into a place of their own, which no compile reads. Then
 * nothing is known of the credentials that gateways name.
 */
const isAbout = ({ objects }: FilesCompiled["loaded"]): ((message: Diagnostic) => boolean) =>
  objects.some(isSecret) ? () => true : ({ code, path }) => code !== "IST0101" || path.at(-1) !== "credentialName";

/** Has the analysers look at what was published, once nothing waits for it any more. */
export interface Analyst {
  /** @param loaded undefined: the process that compiled does not hold the world */
  take(root: string, loaded: FilesCompiled["loaded"] | undefined): void;
  /** Analyses what was taken last and writes the messages beside its root. @throws PortolanError when the store fails */
  record(): Promise<void>;
}

/** Remembers between calls what did not change, as compilers do. */
export function createAnalyst(store: Pick<ObjectStore, "get" | "put">): Analyst {
  let taken: { readonly root: string; readonly loaded: FilesCompiled["loaded"] } | undefined;
  let analyze: ReturnType<typeof createAnalysis> | undefined;
  let recorded: string | undefined;
  return {
    take(root, loaded) {
      const isAnalyzed = loaded !== undefined && loaded.configs.length + loaded.objects.length <= maxAnalyzedObjects;
      taken = isAnalyzed ? { root, loaded } : undefined;
      // Where there is no room for the world, there is none for what is remembered of it.
      if (!isAnalyzed) analyze = undefined;
    },
    async record() {
      if (taken === undefined) return;
      const { root, loaded } = taken;
      taken = undefined;
      // A root names the versions of all sources, so the messages of one root never change.
      if (recorded === root || (await readAnalysis(store, root)) !== undefined) {
        recorded = root;
        return;
      }
      analyze ??= createAnalysis();
      await writeAnalysis(store, root, analyze(loaded).filter(isAbout(loaded)));
      recorded = root;
    },
  };
}
