/** Where in a value, by the names that it is written with. */
export type ValuePath = readonly (string | number)[];

/**
 * What is wrong with a value:
 * - `invalid`: Istio refuses it, or no Envoy takes it
 * - `gone-type`: a type of Envoy's v2 API, which no current Envoy has
 * - `unknown-type`: a type that is not known here; an Envoy of a later release, or one with an extension of its own, may have it
 * - `unchecked-type`: Envoy has the type, and its fields are not known here
 * - `unknown-field`: Istio and Envoy pass over it
 * - `ignored`: another field counts instead of it
 * - `passed`: Envoy refuses it, and it is served as Istio serves it
 */
export type ValueProblemKind =
  | "invalid"
  | "gone-type"
  | "unknown-type"
  | "unchecked-type"
  | "unknown-field"
  | "ignored"
  | "passed";

export interface ValueProblem {
  readonly kind: ValueProblemKind;
  readonly path: ValuePath;
  /** Continues "<path> …": `must be a string, not 5`. */
  readonly reason: string;
  /** What to write instead; "" where nothing better is known than Envoy's reference. */
  readonly hint: string;
}

/** So many problems of one value are listed. */
const maxProblems = 20;

/** Notes what is wrong, up to a bound; `invalid` is never lost, since what follows was not read. */
export interface ProblemList {
  readonly problems: ValueProblem[];
  /** Whether no more are listed, but for a first one that is `invalid`. */
  isFull(): boolean;
  add(kind: ValueProblemKind, path: ValuePath, reason: string, hint?: string): void;
}

export function createProblemList(): ProblemList {
  const problems: ValueProblem[] = [];
  return {
    problems,
    isFull: () => problems.length >= maxProblems,
    add(kind, path, reason, hint = "") {
      if (problems.length < maxProblems || (kind === "invalid" && !problems.some((one) => one.kind === kind)))
        problems.push({ kind, path, reason, hint });
    },
  };
}

/** A value as a message quotes it, at most 40 characters of it. */
export function quoted(value: unknown): string {
  const text = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
