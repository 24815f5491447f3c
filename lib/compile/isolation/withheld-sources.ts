import { type Diagnostic, fileOrigin } from "../../base/diagnostic.ts";
import { isFields, isTime } from "../../base/untyped.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Keeping } from "../shards/unreadable-source.ts";
import { sourceVersions } from "../slices/source-versions.ts";
import type { SourceChanges } from "./changes-in-source.ts";

/** A version of a source that is not compiled, because compiling it ended a compile process, or may have. */
export interface WithheldSource extends CompiledSource {
  /** Version that is compiled in its place: that of the newest root. Absent: no version was published, and the source is left out. */
  readonly instead?: string;
  /** How the process ended. */
  readonly reason: string;
  /** How many processes it has ended by itself. 0: several had changed when a process ended, and it waits to be tried alone. */
  readonly deaths: number;
  /** What has changed since the version that is compiled in its place; absent where that is not known. */
  readonly changes?: SourceChanges;
  /** When it is compiled again, in milliseconds since the epoch: the process may have ended for another reason. */
  readonly retryMs: number;
}

/** Name of each source that is held back → the version to compile in its place; undefined: none, the source is left out. */
export type WithheldVersions = ReadonlyMap<string, string | undefined>;

export const nothingWithheld: WithheldVersions = new Map();

/** One object for all: few sources are ever held at a time. */
const withheldSourcesKey = "compile/held-sources";

/** @returns none where the object is absent, or is no list of held sources */
export async function readWithheldSources(store: ObjectStore): Promise<readonly WithheldSource[]> {
  const found = await store.get(withheldSourcesKey);
  if (found.kind !== "found") return [];
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(found.bytes));
    return Array.isArray(json) ? json.filter(isHeldSource) : [];
  } catch {
    // Without the object each of these versions ends one more process, and is then held again.
    return [];
  }
}

/** Replaces all of them. Only the holder of the compile lease writes here. */
export async function writeWithheldSources(store: ObjectStore, held: readonly WithheldSource[]): Promise<void> {
  if (held.length === 0) await store.delete(withheldSourcesKey);
  else await store.put(withheldSourcesKey, new TextEncoder().encode(JSON.stringify(held)));
}

const isHeldSource = (value: unknown): value is WithheldSource =>
  isFields(value) &&
  typeof value.name === "string" &&
  typeof value.version === "string" &&
  (value.instead === undefined || typeof value.instead === "string") &&
  typeof value.reason === "string" &&
  Number.isSafeInteger(value.deaths) &&
  typeof value.retryMs === "number" &&
  (value.retryMs === untilItsTurn || isTime(value.retryMs)) &&
  (value.changes === undefined || isChanges(value.changes));

const isChanges = (value: unknown): boolean =>
  isFields(value) &&
  Array.isArray(value.named) &&
  value.named.every((name) => typeof name === "string") &&
  Number.isSafeInteger(value.count);

/**
 * The versions to compile: those that the sources are at now, but for the sources that are held back.
 *
 * @param keeping what to do with a source that cannot be read
 */
export async function versionsBesideWithheld(
  store: ObjectStore,
  order: readonly string[],
  held: WithheldVersions,
  keeping: Keeping,
): Promise<readonly CompiledSource[]> {
  const now = await sourceVersions(store, order, keeping);
  return now.flatMap(({ name, version }) => {
    const of = held.has(name) ? held.get(name) : version;
    return of === undefined ? [] : [{ name, version: of }];
  });
}

/**
 * What a process must not compile that others depend on: versions that have ended a compile process, also those whose time to be tried
 * again has come.
 *
 * @param keeping what to do with a source that cannot be read
 */
export async function everWithheldVersions(store: ObjectStore, keeping: Keeping): Promise<WithheldVersions> {
  const known = await readWithheldSources(store);
  if (known.length === 0) return nothingWithheld;
  const now = new Map((await sourceVersions(store, [], keeping)).map(({ name, version }) => [name, version]));
  const published = await keeping.published();
  const current = known.filter(({ name, version }) => now.get(name) === version);
  return new Map(current.map(({ name }) => [name, published.get(name)]));
}

/** For a source that waits until the one before it was tried. */
export const untilItsTurn = Number.MAX_SAFE_INTEGER;

/** Reports a source that is held back: an error, since what was pushed is not in force; a warning for one that waits. */
export function withheldDiagnostic(held: WithheldSource): Diagnostic {
  if (held.deaths === 0) return waitingDiagnostic(held.name);
  const { name, version, instead, reason, changes, retryMs } = held;
  const what =
    instead === undefined ? "the source is left out" : `version ${instead.slice(0, 12)} is compiled in its place`;
  return {
    code: "source-held",
    severity: "error",
    origin: fileOrigin(name),
    path: [],
    message: `compiling version ${version.slice(0, 12)} of source ${name} ended the compile process (${reason}); ${what}${changesText(changes)}`,
    hint: `undo its newest change, or split large objects; it is tried again when the source changes, and at ${new Date(retryMs).toISOString()}`,
  };
}

function changesText({ named, count }: SourceChanges = { named: [], count: 0 }): string {
  if (named.length === 0) return "";
  const more = count > named.length ? ` and ${count - named.length} more` : "";
  return `; changed since: ${named.join(", ")}${more}`;
}

const waitingDiagnostic = (name: string): Diagnostic => ({
  code: "source-held",
  severity: "warning",
  origin: fileOrigin(name),
  path: [],
  message: `the newest change of source ${name} is not compiled yet: a compile of several changes ended its process, and each is tried alone`,
  hint: "wait for the next compile",
});
