import { hashOf } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { canonicalJson } from "../../config/canonical-json.ts";
import type { ProxyViews } from "../../mesh/views/view-columns.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import type { StoredClasses, StoredRecord } from "../../snapshot/standing/read-stored.ts";
import { madeOf } from "../../snapshot/standing/standing-record.ts";
import { ofUnits, type Unit } from "../../xds/units.ts";
import { cutSources, sourceByFile } from "../bounded-diagnostics.ts";
import type { Shard } from "../shards/shard.ts";
import { type Standing, type StandingClass, spokenKey } from "./standing.ts";

/** All that an answer depends on beside the sources. */
export interface MadeWith {
  /** Tells the code of this compiler from that of any other. */
  readonly build: string;
  /** How to compile, in full. */
  readonly options: object;
  /** Names of the sources, in the order in which they count. */
  readonly order: readonly string[];
}

/** One text for all that was made alike, whoever wrote the options down in whatever order. */
export const standingKey = ({ build, options, order }: MadeWith): string =>
  hashOf(canonicalJson([build, options, order]));

/** What a process needs to find what stands. */
export interface Finding {
  /** The newest root, which HEAD keeps from being collected, as `readStored` gives it. */
  readonly stored: Promise<StoredClasses | undefined>;
  readonly key: string;
  /** The sources as they were in these versions. */
  readonly shardsAt: (versions: readonly CompiledSource[]) => Promise<readonly Shard[]>;
  /** The classes of sources, by id. @param isFaultless as `folderOf` has it */
  readonly viewsOf: (
    shards: readonly Shard[],
    isFaultless: (file: string) => boolean,
  ) => ReadonlyMap<string, ProxyViews>;
}

/** Results of the newest publish that may be reused, or why none may. */
export type Opened = { readonly standing: Standing } | { readonly missed: string };

/**
 * What the newest publish has left in the store. What its classes were made from is found by going the way from the sources to the views
 * once more, with the sources as they were then: the next compile, in the same memory, gives the same objects where nothing has changed.
 *
 * @returns why nothing can be taken where the root was made by another compiler, or otherwise, or is not whole, or the sources of then are
 * kept no more: it would have saved work, and nothing else depends on it
 */
export async function openStanding({ stored: reading, key, shardsAt, viewsOf }: Finding): Promise<Opened> {
  try {
    const stored = await reading;
    if (stored === undefined) return { missed: "the newest root does not say how it was made, or was made otherwise" };
    if (stored.record.key !== key)
      return { missed: "the newest root was made by another build, with other settings, or from other sources" };
    const views = viewsOf(await shardsAt(stored.root.sources), faultlessFiles(stored));
    return { standing: standingOf(stored, views) };
  } catch (cause) {
    if (cause instanceof PortolanError || cause instanceof SyntaxError) return { missed: cause.message };
    throw cause;
  }
}

/**
 * The files that nothing has to be said of: the same code has read the same texts, and the root has all that was said of them, unless a
 * source had too much.
 */
export function faultlessFiles({ root, diagnostics }: StoredRecord): (file: string) => boolean {
  const faulty = new Set(diagnostics.map(({ origin }) => origin.file));
  const cut = cutSources(diagnostics);
  const nameOf = sourceByFile(root.sources.map(({ name }) => name));
  return (file) => !faulty.has(file) && !cut.has(nameOf(file));
}

/** Stored classes, with what they were made from. @param views by the id of the class */
export function standingOf(
  { record, classes: stored }: StoredClasses,
  views: ReadonlyMap<string, ProxyViews>,
): Standing {
  const { spoken } = madeOf(record);
  const classes = new Map<string, StandingClass>();
  for (const [id, compiled] of stored) {
    const of = views.get(id);
    const saidOf = (unit: Unit) => spoken[spokenKey(id, unit)] ?? [];
    if (of !== undefined) classes.set(id, { views: of, compiled, spoken: ofUnits(saidOf) });
  }
  return { classes };
}
