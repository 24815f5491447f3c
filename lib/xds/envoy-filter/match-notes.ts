/**
 * Says of each patch whether it matches anything. A patch that matches nothing in one class may do so in another, so a class says both, and
 * `settledMatches` keeps what is true of all classes.
 */
import type { Diagnostic } from "../../base/diagnostic.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { Patch } from "./patch.ts";

type AnyPatch = Patch<unknown>;

/** What patches of a sort change, in the message. */
export type PatchedThing =
  | "listener"
  | "listener filter"
  | "filter chain"
  | "network filter"
  | "HTTP filter"
  | "route table"
  | "virtual host"
  | "route"
  | "cluster";

const code = "envoy-filter-no-match";

/** Of no diagnostic that anybody sees. */
const matches = "";

/**
 * A note for each patch of one class.
 *
 * @param thing undefined: whether those match something that match nothing here another part of the class knows, so nothing is said of them
 * @param isMatched whether there is something in the class that the patch matches
 */
export function matchNotes<P extends AnyPatch>(
  memo: Memo,
  patches: readonly P[],
  thing: PatchedThing | undefined,
  isMatched: (patch: P) => boolean,
): readonly Diagnostic[] {
  if (patches.length === 0) return noNotes;
  return notesOf(memo, { patches, thing, matched: patches.map((patch) => (isMatched(patch) ? "1" : "0")).join("") });
}

const noNotes: readonly Diagnostic[] = [];

interface Matched {
  readonly patches: readonly AnyPatch[];
  readonly thing: PatchedThing | undefined;
  /** A digit for each patch. */
  readonly matched: string;
}

/** The same objects for all classes in which the same patches match. */
const notesOf = query("notes of matches", ({ patches, thing, matched }: Matched): readonly Diagnostic[] =>
  patches.flatMap((patch, at) => {
    if (matched[at] === "1") return noteOf(patch, matches);
    return thing === undefined ? [] : noteOf(patch, unmatchedText(thing));
  }),
);

const unmatchedText = (thing: PatchedThing): string =>
  `matches no ${thing} of any proxy that the filter selects, so the patch has no effect`;

const noteOf = ({ origin, path }: AnyPatch, message: string): Diagnostic => ({
  code,
  severity: "warning",
  origin,
  path: [...path, "match"],
  message,
  hint: "compare it with what the proxies have, which `portolan proxy-config` prints; names and ports have to be equal",
});

const placeOf = ({ origin: { key, file, line }, path }: Diagnostic): string =>
  JSON.stringify([key.namespace, key.name, file, line, path]);

/**
 * What is said of all classes together: that a patch matches nothing, if it does so nowhere.
 *
 * @returns the same list where nothing of it is about matches
 */
export function settledMatches(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const notes = diagnostics.filter((diagnostic) => diagnostic.code === code);
  if (notes.length === 0) return diagnostics;
  const matched = new Set(notes.filter(({ message }) => message === matches).map(placeOf));
  return diagnostics.filter((diagnostic) => diagnostic.code !== code || !matched.has(placeOf(diagnostic)));
}
