import type { Mismatch } from "../string-match.ts";

/** Whether a rule matches a request. */
export type Truth =
  /** `why` is in words, and may be empty. */
  | { readonly is: "yes"; readonly why: string }
  | { readonly is: "no"; readonly why: string }
  /** It matches or not by something that is not known here. */
  | { readonly is: "depends"; readonly on: readonly string[] };

export const yes = (why = ""): Truth => ({ is: "yes", why });
export const no = (why: string): Truth => ({ is: "no", why });
export const depends = (...on: readonly string[]): Truth => ({ is: "depends", on });

/** The rule's words are kept where it does not match; where it does, those of what was looked at. */
export function truthOf(found: Mismatch | undefined, subject: string): Truth {
  if (found === undefined) return yes(subject);
  return found.isCertain ? no(found.why) : depends(`whether ${found.why.replace(/, which is not followed here$/, "")}`);
}

export function not(truth: Truth): Truth {
  if (truth.is === "depends") return truth;
  return truth.is === "no" ? yes(truth.why) : no(`${truth.why || "everything"} is excluded`);
}

/** More reasons than a person reads are left out. */
const maxReasons = 3;
const joined = (reasons: readonly string[], by: string): string => {
  const all = [...new Set(reasons.filter((reason) => reason !== ""))];
  return all.slice(0, maxReasons).join(by) + (all.length > maxReasons ? " …" : "");
};

/** Unknowns of several rules, without repetition. */
const unknowns = (truths: readonly Truth[]): readonly string[] => [
  ...new Set(truths.flatMap((truth) => (truth.is === "depends" ? truth.on : []))),
];

/** True if all are; the first that is certainly not decides. Nothing is true. */
export function every(truths: Iterable<Truth>): Truth {
  const kept: Truth[] = [];
  for (const truth of truths) {
    if (truth.is === "no") return truth;
    kept.push(truth);
  }
  const on = unknowns(kept);
  if (on.length > 0) return depends(...on.slice(0, maxReasons));
  return yes(
    joined(
      kept.map((truth) => (truth.is === "yes" ? truth.why : "")),
      ", ",
    ),
  );
}

/** True if one is; nothing is not. */
export function some(truths: Iterable<Truth>): Truth {
  const kept: Truth[] = [];
  for (const truth of truths) {
    if (truth.is === "yes") return truth;
    kept.push(truth);
  }
  const on = unknowns(kept);
  if (on.length > 0) return depends(...on.slice(0, maxReasons));
  return no(
    joined(
      kept.map((truth) => (truth.is === "no" ? truth.why : "")),
      "; ",
    ) || "it has no alternative",
  );
}
