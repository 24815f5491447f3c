import type { Json } from "../json.ts";

/** What Istio answered in one case: by proxy, then by the file's name without `.json`, the file's value. */
export type Expected = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** Parts by type of resource, then by name. */
export type Parts = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** A case as `expected.yaml` holds it: its answers refer to its own parts and to those of its suite. */
export interface AbridgedCase {
  readonly answers: Expected;
  /** Absent where nothing repeats within the case. */
  readonly parts?: Parts;
}

/** The cases of a suite by name, and the parts that several of them have. */
export interface AbridgedSuite {
  readonly parts: Parts;
  readonly cases: ReadonlyMap<string, AbridgedCase>;
}
