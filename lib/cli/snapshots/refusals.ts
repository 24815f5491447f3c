import { type Diagnostic, errorsOf, keyText } from "../../config/diagnostic.ts";

/** An error of a compile, and what proxies have instead of what it refuses. */
export type Refusal = Diagnostic & { readonly instead: "last-valid" | "closed" | "nothing" | "itself" };

/**
 * What one compile refused: its errors, and the rules that fail closed although their object was read.
 *
 * @param diagnostics all that it said
 */
export function refusalsIn(diagnostics: readonly Diagnostic[]): readonly Refusal[] {
  const kept = diagnostics.filter(({ code }) => code === "last-valid-served").map(({ origin }) => origin);
  const files = new Set(kept.map(({ file }) => file));
  const wholeFiles = new Set(kept.filter(({ key }) => key.kind === "").map(({ file }) => file));
  // The form that is kept may have stood in another file than the one that is refused.
  const keys = new Set(kept.map(({ key }) => keyText(key)));
  // A file without an object is kept as a whole, or cannot be read and may hold what is kept.
  const isKept = ({ code, origin: { file, key } }: Diagnostic): boolean => {
    if (key.kind === "") return files.has(file);
    // Of a file that holds settings and objects only the settings are kept as a whole.
    return keys.has(keyText(key)) || (wholeFiles.has(file) && code !== "object-in-settings");
  };
  const closings = diagnostics.filter(({ code }) => code === "security-closed");
  const closed = new Set(closings.map(({ origin }) => keyText(origin.key)));
  const errors = errorsOf(diagnostics);
  const refused = new Set(errors.map(({ origin }) => keyText(origin.key)));
  const rules = closings.filter(({ origin, path }) => path.length > 0 && !refused.has(keyText(origin.key)));
  const insteadOf = (one: Diagnostic): Refusal["instead"] => {
    const { code, origin } = one;
    // Of an object that is there twice the error is at the one that counts.
    if (code === "duplicate-object") return "itself";
    if (isKept(one)) return "last-valid";
    return closed.has(keyText(origin.key)) ? "closed" : "nothing";
  };
  return [...errors, ...rules].map((one) => ({ ...one, instead: insteadOf(one) }));
}

/** How many there are, on one line. */
export function refusalsText(refusals: readonly Refusal[]): string {
  const countOf = (what: Refusal["instead"]): number => refusals.filter(({ instead }) => instead === what).length;
  const parts = [
    [countOf("last-valid"), "of what is served as it was last valid"],
    [countOf("closed"), "of what fails closed"],
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
  return { ...error, message: `${error.message}; ${whatInstead(instead, before)}` };
}

function whatInstead(instead: Exclude<Refusal["instead"], "itself">, before: string): string {
  switch (instead) {
    case "nothing":
      return "it is left out";
    case "closed":
      return "no valid form of it is known, and what it selects is closed";
    case "last-valid":
      return `${before} goes on being served`;
  }
}
