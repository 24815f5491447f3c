import type { AnalysisInput } from "../../analysis/analysis-input.ts";
import { type AnalyzeOptions, analyze } from "../../analysis/analyze.ts";
import { createAnalysis } from "../../analysis/remembered-analysis.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { createFolderCompiler } from "../../compile/compile-files.ts";
import { defaultWorldOptions } from "../../compile/world/world-of.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { areKeysUnread } from "../../xds/security/jwt-authentication.ts";
import { counted } from "../numbers.ts";

/** What the analysers say of a world as a whole; what reading and compiling say is not among it. */
export function analysisOf(
  loaded: LoadedDirectory & Partial<Pick<AnalysisInput, "otherHosts" | "clusterIds">>,
): readonly Diagnostic[] {
  return createAnalysis()({ clusterIds: clusterIdsOf(loaded), ...loaded });
}

const clusterIdsOf = ({ clusters }: LoadedDirectory): readonly string[] => [
  defaultWorldOptions.clusterId,
  ...clusters.map(({ id }) => id),
];

/**
 * All that can be said of a world: by reading it, by compiling it, and by the analysers. `push` and `dev` report the same, besides keys
 * of issuers that have not been read: here they are one note.
 */
export function wholeAnalysis(loaded: LoadedDirectory, options: AnalyzeOptions = {}): readonly Diagnostic[] {
  const compiled = options.only === undefined ? { compiled: compiledDiagnostics(loaded) } : {};
  return analyze({ ...loaded, ...compiled, clusterIds: clusterIdsOf(loaded) }, options);
}

/** What compiling says beyond reading; nothing where the settings of the mesh cannot be used, as reading says. */
function compiledDiagnostics(loaded: LoadedDirectory): readonly Diagnostic[] {
  if ((loaded.unusableSettings ?? []).length > 0) return [];
  const read = new Set(loaded.diagnostics);
  const found = createFolderCompiler(defaultWorldOptions)(loaded, []).diagnostics.filter((one) => !read.has(one));
  return [...found.filter((one) => !areKeysUnread(one)), ...unreadNote(found.filter(areKeysUnread))];
}

/** Files alone hold no keys that a resolver has read, which is no fault of theirs: one note for all issuers, at the first of them. */
function unreadNote([first, ...others]: readonly Diagnostic[]): readonly Diagnostic[] {
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : `, nor those of ${counted(others.length, "other issuer")}`;
  return [
    {
      ...first,
      severity: "info",
      message: `the keys of this issuer are not part of what is analyzed${more}`,
      hint: "`portolan dev` reads them by itself, `portolan resolve` into a store; until then every token is refused",
    },
  ];
}
