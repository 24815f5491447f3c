import { type Diagnostic, errorsOf, keyText, type Origin } from "../../config/diagnostic.ts";

/** An error of a compile, and what proxies have instead of what it refuses. */
export type Refusal = Diagnostic & { readonly instead: "last-valid" | "nothing" | "itself" };

/** @param diagnostics all that one compile said */
export function refusalsIn(diagnostics: readonly Diagnostic[]): readonly Refusal[] {
  const kept = diagnostics.filter(({ code }) => code === "last-valid-served").map(({ origin }) => origin);
  const files = new Set(kept.map(({ file }) => file));
  const wholeFiles = new Set(kept.filter(({ key }) => key.kind === "").map(({ file }) => file));
  // The form that is kept may have stood in another file than the one that is refused.
  const keys = new Set(kept.map(({ key }) => keyText(key)));
  // A file without an object is kept as a whole, or cannot be read and may hold what is kept.
  const isKept = ({ file, key }: Origin): boolean =>
    key.kind === "" ? files.has(file) : keys.has(keyText(key)) || wholeFiles.has(file);
  return errorsOf(diagnostics).map((error) => ({
    ...error,
    // Of an object that is there twice the error is at the one that counts.
    instead: error.code === "duplicate-object" ? "itself" : isKept(error.origin) ? "last-valid" : "nothing",
  }));
}

/** How many there are, on one line. */
export function refusalsText(refusals: readonly Refusal[]): string {
  const countOf = (what: Refusal["instead"]): number => refusals.filter(({ instead }) => instead === what).length;
  const parts = [
    [countOf("last-valid"), "of what is served as it was last valid"],
    [countOf("nothing"), "of what is left out"],
    [countOf("itself"), "of what is served as it is"],
  ] as const;
  const told = parts.filter(([count]) => count > 0).map((part) => part.join(" "));
  return `${refusals.length} in the newest version: ${told.join(", ")}`;
}

/** The error as people are told of it. */
export function toldWithInstead({ instead, ...error }: Refusal): Diagnostic {
  if (instead === "itself") return error;
  const before = error.origin.key.kind === "" ? "what it held before" : "its last valid form";
  const what = instead === "nothing" ? "it is left out" : `${before} goes on being served`;
  return { ...error, message: `${error.message}; ${what}` };
}
