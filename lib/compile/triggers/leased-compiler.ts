import type { Diagnostic } from "../../config/diagnostic.ts";
import { createSnapshotReader } from "../../snapshot/snapshot-reader.ts";
import { staleSources } from "../collected/stale-sources.ts";
import { createRecompiler, type RecompileOptions } from "../recompile.ts";
import { createTurns, type TurnsOptions } from "./turns.ts";

/** A compiler that all triggers of a store share with those of other processes; see `createTurns`. */
export function createLeasedCompiler(
  options: RecompileOptions & Pick<TurnsOptions, "pace" | "onError" | "onTakenOver">,
): ReturnType<typeof createTurns> {
  const { store, now = Date.now } = options;
  const diagnosticsOf = async (root: string): Promise<readonly Diagnostic[]> => {
    // A reader for each: it is seldom asked, and keeps what it has read.
    const reader = createSnapshotReader(store);
    const { diagnostics, sources } = (await reader.root(root)).root;
    // What `createWorldEncoder` wrote, under its checksum.
    const told: readonly Diagnostic[] = JSON.parse(await reader.text(diagnostics));
    const names = sources.map(({ name }) => name);
    return [...told, ...(await staleSources(store, names, now()))];
  };
  return createTurns({ ...options, compile: createRecompiler(options), diagnosticsOf });
}
