import type { Diagnostic } from "../../base/diagnostic.ts";
import { createPacker } from "../../snapshot/packs/write-packs.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { createAnalyst } from "../analyst.ts";
import { staleSources } from "../collected/stale-sources.ts";
import { createCompileHere } from "../isolation/compile-here.ts";
import type { Recompiled, RecompileOptions } from "../recompile/recompiled.ts";
import { diagnosticsOfRoot } from "../root-diagnostics.ts";
import { noObserver } from "../telemetry/observer.ts";
import { type CompileQueueOptions, createCompileQueue } from "./compile-queue.ts";

/** @param askedMs when that was asked for, in milliseconds since the epoch; absent: now */
export type LeasedCompiler = (publishing?: Publishing, askedMs?: number) => Promise<Recompiled>;

/**
 * A compiler that all triggers of a store share with those of other processes; see `createCompileQueue`.
 *
 * @param options.compile compiles in another process; absent: it is done in this one
 * @param options.writesPacks whether readers of the store are spared requests; worth it where each of them takes milliseconds; false
 * when absent
 */
export function createLeasedCompiler(
  options: RecompileOptions &
    Pick<CompileQueueOptions, "pace" | "clock" | "onError" | "onTakenOver"> &
    Partial<Pick<CompileQueueOptions, "compile">> & { readonly writesPacks?: boolean },
): LeasedCompiler {
  const { store, now = Date.now, observer = noObserver } = options;
  const analyst = createAnalyst(store, { world: options.world, mostBytes: options.memoryLimits?.analyzedBytes });
  const { compile = createCompileHere({ ...options, onPublished: analyst.take }) } = options;
  const { writesPacks = false, onError = () => {} } = options;
  const diagnosticsOf = async (root: string): Promise<readonly Diagnostic[]> => {
    // A reader for each: it is seldom asked, and keeps what it has read.
    const reader = createSnapshotReader(store);
    const names = (await reader.root(root)).root.sources.map(({ name }) => name);
    return [...(await diagnosticsOfRoot(reader, root)), ...(await staleSources(store, names, now()))];
  };
  const request = createCompileQueue({ ...options, compile, diagnosticsOf });
  const pack = createPacker(store);
  return async (publishing, askedMs) => {
    observer.asked(askedMs);
    const told = await request(publishing);
    // What was published stands, whatever comes of packs and of the analysers.
    if (writesPacks && told.kind === "published") await pack(told).catch(onError);
    await analyst.record().catch(onError);
    return told;
  };
}
