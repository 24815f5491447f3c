import { type Diagnostic, errorsOf, keyText, type Origin } from "../../config/diagnostic.ts";

/** An error of a compile, and what proxies have instead of what it refuses. */
export type Refusal = Diagnostic & { readonly instead: "last-valid" | "nothing" };

/** @param diagnostics all that one compile said */
export function refusalsIn(diagnostics: readonly Diagnostic[]): readonly Refusal[] {
  const kept = new Map<string, Origin[]>();
  for (const { code, origin } of diagnostics) {
    if (code === "last-valid-served") kept.set(origin.file, [...(kept.get(origin.file) ?? []), origin]);
  }
  return errorsOf(diagnostics).map((error) => {
    const isKept = kept.get(error.origin.file)?.some((one) => isSame(one, error.origin)) === true;
    return { ...error, instead: isKept ? "last-valid" : "nothing" };
  });
}

/** A file without an object is kept as a whole, or cannot be read and may hold what is kept. */
const isSame = (one: Origin, other: Origin): boolean =>
  one.key.kind === "" || other.key.kind === "" || keyText(one.key) === keyText(other.key);

/** How many there are, on one line. */
export function refusalsText(refusals: readonly Refusal[]): string {
  const kept = refusals.filter(({ instead }) => instead === "last-valid").length;
  const parts = [
    ...(kept === 0 ? [] : [`${kept} of what is served as it was last valid`]),
    ...(kept === refusals.length ? [] : [`${refusals.length - kept} of what is left out`]),
  ];
  return `${refusals.length} in the newest version: ${parts.join(", ")}`;
}

/** The error as people are told of it. */
export function toldWithInstead({ instead, ...error }: Refusal): Diagnostic {
  const before = error.origin.key.kind === "" ? "what it held before" : "its form before";
  const what = instead === "nothing" ? "it is left out" : `${before} goes on being served`;
  return { ...error, message: `${error.message}; ${what}` };
}
