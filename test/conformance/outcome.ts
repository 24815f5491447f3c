import type { Difference } from "./differences.ts";

/** One compared file of one proxy of one case. */
export interface FileOutcome {
  readonly proxy: string;
  /** `clusters.json`; for a suite with other files, their names. */
  readonly file: string;
  /** Empty: equal. */
  readonly differences: readonly Difference[];
}

/** What came of one case. A case that failed before it could be compared counts all its files as differing. */
export interface CaseOutcome {
  readonly suite: string;
  readonly name: string;
  readonly group: string;
  readonly files: readonly FileOutcome[];
  /** What is written to objects, where a case says it and it was asked for. */
  readonly status?: FileOutcome;
  /** Why nothing could be compared, or undefined. */
  readonly error: string | undefined;
}

export interface Counts {
  readonly cases: number;
  readonly casesEqual: number;
  readonly proxies: number;
  readonly proxiesEqual: number;
  readonly files: number;
  readonly filesEqual: number;
  /** Cases whose status was compared. */
  readonly statuses: number;
  readonly statusEqual: number;
}

export function isEqual(outcome: CaseOutcome): boolean {
  return outcome.error === undefined && comparedIn(outcome).every((file) => file.differences.length === 0);
}

/** Everything that was compared in a case. */
export const comparedIn = ({ files, status }: CaseOutcome): readonly FileOutcome[] =>
  status === undefined ? files : [...files, status];

export function countsOf(outcomes: readonly CaseOutcome[]): Counts {
  const proxies = outcomes.flatMap((outcome) => {
    const files = Object.values(Object.groupBy(outcome.files, (file) => file.proxy));
    return files.map((list = []) => outcome.error === undefined && list.every((file) => file.differences.length === 0));
  });
  const files = outcomes.flatMap((outcome) =>
    outcome.files.map((file) => outcome.error === undefined && file.differences.length === 0),
  );
  const statuses = outcomes.flatMap(({ status, error }) =>
    status === undefined ? [] : [error === undefined && status.differences.length === 0],
  );
  const count = (flags: readonly boolean[]): number => flags.filter((flag) => flag).length;
  return {
    cases: outcomes.length,
    casesEqual: count(outcomes.map(isEqual)),
    proxies: proxies.length,
    proxiesEqual: count(proxies),
    files: files.length,
    filesEqual: count(files),
    statuses: statuses.length,
    statusEqual: count(statuses),
  };
}

/** The one object of `--json`. */
export interface Summary {
  readonly suite: string;
  readonly groups: readonly ({ readonly name: string } & Counts)[];
  /** What each suite comes to, in the order of their first cases. */
  readonly suites: readonly ({ readonly name: string } & Counts)[];
  readonly total: Counts;
  readonly failing: readonly { readonly case: string; readonly proxy: string; readonly file: string }[];
}

/** @param outcomes in the order of their cases; groups keep the order of their first case */
export function summaryOf(suite: string, outcomes: readonly CaseOutcome[]): Summary {
  const groups = Map.groupBy(outcomes, (outcome) => outcome.group);
  return {
    suite,
    groups: [...groups].map(([name, members]) => ({ name, ...countsOf(members) })),
    suites: [...Map.groupBy(outcomes, (outcome) => outcome.suite)].map(([name, members]) => ({
      name,
      ...countsOf(members),
    })),
    total: countsOf(outcomes),
    failing: outcomes.flatMap((outcome) =>
      comparedIn(outcome)
        .filter((file) => outcome.error !== undefined || file.differences.length > 0)
        .map((file) => ({ case: outcome.name, proxy: file.proxy, file: file.file })),
    ),
  };
}
