import Table from "cli-table3";
import pc from "picocolors";
import type { Difference } from "./differences.ts";
import { type CaseOutcome, type Counts, comparedIn, countsOf, isEqual, type Summary } from "./outcome.ts";

/** The table of groups, and the first differences of what fails. */
export function report(summary: Summary, outcomes: readonly CaseOutcome[], differencesPerFile: number): string {
  const failing = outcomes.filter((outcome) => !isEqual(outcome));
  return [...failing.map((outcome) => describe(outcome, differencesPerFile)), table(summary, outcomes)].join("\n");
}

/** Whose answers a suite holds. */
function recordedFrom(suite: string): string {
  if (suite === "v1") return "Istio 0.7 and 0.8";
  return suite === "v3-next" ? "Istio 1.31" : "Istio 1.30.3";
}

function table(summary: Summary, outcomes: readonly CaseOutcome[]): string {
  const rows = new Table({
    head: ["group", "cases", "proxies", "files", ...(summary.total.statuses > 0 ? ["status"] : [])],
    colAligns: ["left", "right", "right", "right", "right"],
    style: { head: [], border: [], compact: true },
  });
  for (const group of summary.groups) rows.push(row(group.name, group));
  if (summary.suites.length > 1) for (const suite of summary.suites) rows.push(row(`suite ${suite.name}`, suite));
  const releases = Map.groupBy(outcomes, ({ suite }) => recordedFrom(suite));
  for (const [release, recorded] of releases) rows.push(row(`answers of ${release}`, countsOf(recorded)));
  rows.push(row(`total (${summary.suite})`, summary.total));
  return rows.toString();
}

function row(name: string, counts: Counts): string[] {
  return [
    name,
    share(counts.casesEqual, counts.cases),
    share(counts.proxiesEqual, counts.proxies),
    share(counts.filesEqual, counts.files),
    ...(counts.statuses > 0 ? [share(counts.statusEqual, counts.statuses)] : []),
  ];
}

function share(equal: number, all: number): string {
  const text = `${equal}/${all}`;
  return equal === all ? pc.green(text) : pc.red(text);
}

function describe(outcome: CaseOutcome, differencesPerFile: number): string {
  const title = pc.bold(`${outcome.suite}/${outcome.name}`);
  if (outcome.error !== undefined) return `${title}\n  ${pc.red(outcome.error)}`;
  const files = comparedIn(outcome).filter((file) => file.differences.length > 0);
  return [
    title,
    ...files.flatMap((file) => [
      `  ${file.proxy === "" ? "" : `${file.proxy}/`}${file.file}: ${count(file.differences.length, "difference")}`,
      ...file.differences.slice(0, differencesPerFile).map((difference) => `    ${describeDifference(difference)}`),
    ]),
  ].join("\n");
}

function describeDifference(difference: Difference): string {
  const { path, expected, actual } = difference;
  if (actual === undefined) return `${path}: missing ${short(expected)}`;
  if (expected === undefined) return `${path}: unexpected ${short(actual)}`;
  return `${path}: expected ${short(expected)}, got ${short(actual)}`;
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 240 ? `${text.slice(0, 240)}…` : text;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
