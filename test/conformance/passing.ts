import { readFileSync, writeFileSync } from "node:fs";
import { type CaseOutcome, isEqual } from "./outcome.ts";

const passingFile = new URL("passing.txt", import.meta.url);

/** The cases that must stay equal, `suite/case`, sorted. */
export function readPassing(): readonly string[] {
  return readFileSync(passingFile, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** Rewrites the list: what ran is taken from its outcome, what did not run keeps its place. */
export function writePassing(outcomes: readonly CaseOutcome[]): void {
  const ran = new Set(outcomes.map(caseKey));
  const kept = readPassing().filter((key) => !ran.has(key));
  const passing = [...kept, ...outcomes.filter(isEqual).map(caseKey)].sort();
  const head = "# Cases that come out equal; `npm run conformance -- --update-passing` rewrites the list.";
  writeFileSync(passingFile, `${[head, ...passing].join("\n")}\n`);
}

export function caseKey(outcome: { readonly suite: string; readonly name: string }): string {
  return `${outcome.suite}/${outcome.name}`;
}
