import { type Diagnostic, fileOrigin, type Origin } from "../base/diagnostic.ts";
import { isSecurityKind } from "../config/fail-closed/close-object.ts";
import { isSecurityFailure } from "../config/fail-closed/closed-object.ts";
import { moreHint, worstOf } from "../config/finding.ts";
import type { LoadedDirectory } from "../config/folder/directory.ts";
import { isFileOf } from "./shards/source-names.ts";
import { sortDiagnostics } from "./sort-diagnostics.ts";

/** One source reports so many diagnostics; one more counts the rest. Each compile is answered with those of all sources. */
export const maxOfSource = 1_000;

/**
 * What is read of a source, with as many diagnostics as it may report. The same object where there are no more.
 *
 * Nothing but reporting may depend on this list: what is closed and what is kept is told by the files.
 */
export function boundedReading(name: string, read: LoadedDirectory): LoadedDirectory {
  if (read.diagnostics.length <= maxOfSource) return read;
  const closed = read.closed.map(({ origin }) => origin);
  const counting = (left: number) => `reading source ${name} gave ${left} more findings, which are not reported`;
  return { ...read, diagnostics: cut(sortDiagnostics(read.diagnostics), name, closed, counting) };
}

/**
 * Diagnostics of several sources, of each as many as it may report. The same list where none has more; a list that was cut stays as it is.
 *
 * @param sorted as `sortDiagnostics` leaves them
 * @param names of the sources, the primary's first
 */
export function boundedBySource(sorted: readonly Diagnostic[], names: readonly string[]): readonly Diagnostic[] {
  if (sorted.length <= maxOfSource) return sorted;
  const nameOf = sourceByFile(names);
  const closed = sorted.filter(isSecurityFailure).map(({ origin }) => origin);
  const bySource = Map.groupBy(sorted, ({ origin }) => nameOf(origin.file));
  const bounded = Array.from(bySource, ([name, own]) =>
    cut(own, name, closed, (left) => `source ${name} has ${left} more findings, which are not reported`),
  );
  const lists = new Set<readonly Diagnostic[]>(bySource.values());
  return bounded.every((list) => lists.has(list)) ? sorted : sortDiagnostics(bounded.flat());
}

/** The same of an answer that says why nothing was done. */
export function boundedAnswer(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  if (diagnostics.length <= maxOfSource) return diagnostics;
  const closed = diagnostics.filter(isSecurityFailure).map(({ origin }) => origin);
  return cut(sortDiagnostics(diagnostics), "", closed, (left) => `${left} more findings are not reported`);
}

/** Of which source a file in an origin is. @param names of the sources, the primary's first: its files have their own names */
export const sourceByFile =
  ([primary = "", ...others]: readonly string[]): ((file: string) => string) =>
  (file) =>
    others.find((name) => isFileOf(name, file)) ?? primary;

/** The sources of which not all diagnostics are reported. */
export const cutSources = (diagnostics: readonly Diagnostic[]): ReadonlySet<string> =>
  new Set(diagnostics.filter(isOfSource).map(({ origin }) => origin.file));

/** Whether it counts what is not reported of a source, as against an object and a file, which have a kind or a line. */
const isOfSource = ({ code, origin }: Diagnostic): boolean =>
  code === "more-findings" && origin.key.kind === "" && origin.line === 0;

function cut(
  all: readonly Diagnostic[],
  name: string,
  closed: readonly Origin[],
  counting: (left: number) => string,
): readonly Diagnostic[] {
  const counts = all.filter(isOfSource);
  if (all.length - counts.length <= maxOfSource) return all;
  const places = new Set(closed.map(placeOf));
  const byRank = Map.groupBy(
    all.filter((one) => !isOfSource(one)),
    (one) => rankOf(one, places),
  );
  const inOrder = [...byRank].sort(([a], [b]) => a - b).flatMap(([, some]) => some);
  const left = inOrder.slice(maxOfSource);
  const more: Diagnostic = {
    code: "more-findings",
    severity: worstOf(left.map(({ severity }) => severity)),
    origin: fileOrigin(name),
    path: [],
    message: counting(left.length),
    hint: moreHint,
  };
  return sortDiagnostics([...inOrder.slice(0, maxOfSource), ...counts, more]);
}

/** What concerns protection comes first, then what refuses something. @param closed places of objects that are closed, or open */
function rankOf(diagnostic: Diagnostic, closed: ReadonlySet<string>): number {
  const { severity, origin } = diagnostic;
  if (isSecurityFailure(diagnostic)) return 0;
  const protects = isSecurityKind(origin.key) || closed.has(placeOf(origin));
  if (severity === "error") return protects ? 1 : 2;
  return severity === "warning" ? 3 : 4;
}

const placeOf = ({ file, line }: Origin): string => `${file}:${line}`;
