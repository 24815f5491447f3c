import { hashOf } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { canonicalJson } from "../../config/canonical-json.ts";
import type { ProxyViews } from "../../mesh/views/view-columns.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import type { StoredClasses, StoredRecord } from "../../snapshot/reuse/read-stored.ts";
import { madeOf } from "../../snapshot/reuse/reuse-record.ts";
import { ofUnits, type Unit } from "../../xds/units.ts";
import { cutSources, sourceByFile } from "../bounded-diagnostics.ts";
import type { Shard } from "../shards/shard.ts";
import { type ReusableClass, type ReusableResults, reportedKey } from "./reusable.ts";

/** All that a result depends on besides the sources. */
export interface ReuseInputs {
  /** Identifies the code of this compiler. */
  readonly build: string;
  /** How to compile, in full. */
  readonly options: object;
  /** Names of the sources, in the order in which they count. */
  readonly order: readonly string[];
}

/** Equal for equal inputs, whatever the order of the options' fields. */
export const reuseKey = ({ build, options, order }: ReuseInputs): string =>
  hashOf(canonicalJson([build, options, order]));

/** What a process needs to find reusable results. */
export interface ReusableSearch {
  /** The newest root, which HEAD keeps from being collected, as `readStored` gives it. */
  readonly stored: Promise<StoredClasses | undefined>;
  readonly key: string;
  /** The sources as they were in these versions. */
  readonly shardsAt: (versions: readonly CompiledSource[]) => Promise<readonly Shard[]>;
  /** The classes of sources, by id. @param skipRules as `folderOf` has it */
  readonly viewsOf: (shards: readonly Shard[], skipRules: (file: string) => boolean) => ReadonlyMap<string, ProxyViews>;
}

/** Results of the newest publish that may be reused, or why none may. */
export type OpenedReusable = { readonly reusable: ReusableResults } | { readonly missed: string };

/**
 * Opens the results of the newest publish. Its views are recomputed from the sources of that publish, in the memory of the next compile,
 * which then yields the same view objects for everything that has not changed.
 *
 * @returns why nothing can be reused: the root was made by another compiler or with other options, is not whole, or its sources are gone.
 * Reuse only saves work; nothing else depends on it
 */
export async function openReusable({
  stored: reading,
  key,
  shardsAt,
  viewsOf,
}: ReusableSearch): Promise<OpenedReusable> {
  try {
    const stored = await reading;
    if (stored === undefined) return { missed: "the newest root does not say how it was made, or was made otherwise" };
    if (stored.record.key !== key)
      return { missed: "the newest root was made by another build, with other settings, or from other sources" };
    const views = viewsOf(await shardsAt(stored.root.sources), filesWithoutDiagnostics(stored));
    return { reusable: reusableOf(stored, views) };
  } catch (cause) {
    if (cause instanceof PortolanError || cause instanceof SyntaxError) return { missed: cause.message };
    throw cause;
  }
}

/**
 * The files without diagnostics in the root: the same code has read the same texts, so their rules can be skipped. Files of a source whose
 * diagnostics were cut are not among them.
 */
export function filesWithoutDiagnostics({ root, diagnostics }: StoredRecord): (file: string) => boolean {
  const faulty = new Set(diagnostics.map(({ origin }) => origin.file));
  const cut = cutSources(diagnostics);
  const nameOf = sourceByFile(root.sources.map(({ name }) => name));
  return (file) => !faulty.has(file) && !cut.has(nameOf(file));
}

/** Stored classes with the views that they were compiled from. @param views by class id */
export function reusableOf(
  { record, classes: stored }: StoredClasses,
  views: ReadonlyMap<string, ProxyViews>,
): ReusableResults {
  const { spoken } = madeOf(record);
  const classes = new Map<string, ReusableClass>();
  for (const [id, compiled] of stored) {
    const of = views.get(id);
    const saidOf = (unit: Unit) => spoken[reportedKey(id, unit)] ?? [];
    if (of !== undefined) classes.set(id, { views: of, compiled, reported: ofUnits(saidOf) });
  }
  return { classes };
}
