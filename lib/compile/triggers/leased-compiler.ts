import type { Diagnostic } from "../../config/diagnostic.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import { createSnapshotReader } from "../../snapshot/snapshot-reader.ts";
import { staleSources } from "../collected/stale-sources.ts";
import { createCompileHere } from "../isolation/compile-here.ts";
import type { Recompiled, RecompileOptions } from "../recompile/recompiled.ts";
import { diagnosticsOfRoot } from "../root-diagnostics.ts";
import { noObserver } from "../telemetry/observer.ts";
import { createTurns, type TurnsOptions } from "./turns.ts";

/** @param askedMs when that was asked for, in milliseconds since the epoch; absent: now */
export type LeasedCompiler = (publishing?: Publishing, askedMs?: number) => Promise<Recompiled>;

/**
 * A compiler that all triggers of a store share with those of other processes; see `createTurns`.
 *
 * @param options.compile compiles in another process; absent: it is done in this one
 */
export function createLeasedCompiler(
  options: RecompileOptions &
    Pick<TurnsOptions, "pace" | "clock" | "onError" | "onTakenOver"> &
    Partial<Pick<TurnsOptions, "compile">>,
): LeasedCompiler {
  const { store, now = Date.now, observer = noObserver, compile = createCompileHere(options) } = options;
  const diagnosticsOf = async (root: string): Promise<readonly Diagnostic[]> => {
    // A reader for each: it is seldom asked, and keeps what it has read.
    const reader = createSnapshotReader(store);
    const names = (await reader.root(root)).root.sources.map(({ name }) => name);
    return [...(await diagnosticsOfRoot(reader, root)), ...(await staleSources(store, names, now()))];
  };
  const turns = createTurns({ ...options, compile, diagnosticsOf });
  return (publishing, askedMs) => {
    observer.asked(askedMs);
    return turns(publishing);
  };
}
