import { type Diagnostic, errorsOf, keyText } from "../../base/diagnostic.ts";

/** What proxies have in place of what a compile refuses. */
export const insteads = ["last-valid", "closed", "nothing", "itself"] as const;
export type Instead = (typeof insteads)[number];

/** An error of a compile, and what proxies have instead of what it refuses. */
export type Refusal = Diagnostic & { readonly instead: Instead };

/** What is served in place of what one diagnostic refuses. */
export interface Served {
  readonly instead: Instead;
  /** The warning that says of which last valid form; absent where there is none. */
  readonly kept?: Diagnostic | undefined;
}

/** Whether it is about the mesh's own settings, which concern every proxy. */
export const isOfSettings = ({ origin: { key } }: Diagnostic): boolean =>
  key.group === "" && (key.kind === "MeshConfig" || key.kind === "MeshNetworks");

/**
 * What is served in place of what each error refuses, and each rule that fails closed.
 *
 * @param diagnostics all that one compile said
 * @returns undefined for what refuses nothing
 */
export function servedInstead(diagnostics: readonly Diagnostic[]): (one: Diagnostic) => Served | undefined {
  const kept = diagnostics.filter(({ code }) => code === "last-valid-served");
  const byFile = firstBy(kept, ({ origin }) => origin.file);
  const byWholeFile = firstBy(
    kept.filter(({ origin }) => origin.key.kind === ""),
    ({ origin }) => origin.file,
  );
  // The form that is kept may have stood in another file than the one that is refused.
  const byKey = firstBy(kept, ({ origin }) => keyText(origin.key));
  // A file without an object is kept as a whole, or cannot be read and may hold what is kept.
  const keptFor = ({ code, origin: { file, key } }: Diagnostic): Diagnostic | undefined => {
    if (key.kind === "") return byFile.get(file);
    // Of a file that holds settings and objects only the settings are kept as a whole.
    return byKey.get(keyText(key)) ?? (code === "object-in-settings" ? undefined : byWholeFile.get(file));
  };
  const closed = new Set(diagnostics.filter(isClosing).map(({ origin }) => keyText(origin.key)));
  return (one) => {
    if (one.severity !== "error" && !isClosing(one)) return undefined;
    // Of an object that is there twice the error is at the one that counts.
    if (one.code === "duplicate-object") return { instead: "itself" };
    const found = keptFor(one);
    if (found !== undefined) return { instead: "last-valid", kept: found };
    return { instead: closed.has(keyText(one.origin.key)) ? "closed" : "nothing" };
  };
}

const isClosing = ({ code }: Diagnostic): boolean => code === "security-closed";

const firstBy = (list: readonly Diagnostic[], nameOf: (one: Diagnostic) => string): ReadonlyMap<string, Diagnostic> =>
  new Map(list.toReversed().map((one) => [nameOf(one), one] as const));

/**
 * What one compile refused: its errors, and the rules that fail closed although their object was read.
 *
 * @param diagnostics all that it said
 */
export function refusalsIn(diagnostics: readonly Diagnostic[]): readonly Refusal[] {
  const served = servedInstead(diagnostics);
  const errors = errorsOf(diagnostics);
  const refused = new Set(errors.map(({ origin }) => keyText(origin.key)));
  const rules = diagnostics.filter(
    (one) => isClosing(one) && one.path.length > 0 && !refused.has(keyText(one.origin.key)),
  );
  return [...errors, ...rules].map((one) => ({ ...one, instead: served(one)?.instead ?? "nothing" }));
}

/** How many there are, on one line. */
export function refusalsText(refusals: readonly Refusal[]): string {
  const countOf = (what: Refusal["instead"]): number => refusals.filter(({ instead }) => instead === what).length;
  const parts = [
    [countOf("last-valid"), "in place of which the last valid form is served"],
    [countOf("closed"), "closed"],
    [countOf("nothing"), "left out"],
    [countOf("itself"), "served as it is"],
  ] as const;
  const told = parts.filter(([count]) => count > 0).map((part) => part.join(" "));
  return `${refusals.length} in the newest version: ${told.join(", ")}`;
}

/** The error as people are told of it. */
export function toldWithInstead({ instead, ...error }: Refusal): Diagnostic {
  if (instead === "itself") return error;
  return { ...error, message: `${error.message}; ${whatInstead(instead, error)}` };
}

function whatInstead(instead: Exclude<Instead, "itself">, error: Diagnostic): string {
  switch (instead) {
    case "nothing":
      return "it is left out";
    case "closed":
      return "no valid form of it is known, and what it selects is closed";
    case "last-valid":
      if (isOfSettings(error)) return "the last valid settings are served";
      return `${error.origin.key.kind === "" ? "what it held before" : "its last valid form"} is still served`;
  }
}

/** What is served, for the log: `its last valid form (resourceVersion 337) is served in place of what is refused`. */
export function servedText({ instead, kept }: Served, error: Diagnostic): string {
  switch (instead) {
    case "nothing":
      return "nothing of it is served";
    case "closed":
      return "what it selects is closed";
    case "itself":
      return "it is served as it is";
    case "last-valid":
      return isOfSettings(error) ? "the last valid settings are served" : (kept?.message ?? "");
  }
}
