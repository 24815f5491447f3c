import type { StringMatcherJson } from "../../gen/envoy/type/matcher/v3/string_pb.ts";

/** A regular expression of RE2's dialect. */
export interface Pattern {
  /** Whether it takes a whole text. */
  matches(text: string): boolean;
  /** With every match replaced; `\\1` stands for the first group, `\\0` for all of the match. */
  replaceAll(text: string, substitution: string): string;
}

/** @returns undefined for an expression that cannot be read */
export type ReadRegex = (pattern: string) => Pattern | undefined;

/** Why something does not match. */
export interface Mismatch {
  /** In words, to be read after the name of what was looked at. */
  readonly why: string;
  /** False where it may match: it is judged by something that is not followed here. */
  readonly isCertain: boolean;
}

export const mismatch = (why: string): Mismatch => ({ why, isCertain: true });
export const notFollowed = (why: string): Mismatch => ({ why: `${why}, which is not followed here`, isCertain: false });
/** With a subject before its words. */
export const about = (subject: string, found: Mismatch | undefined): Mismatch | undefined =>
  found && { ...found, why: `${subject} ${found.why}` };

/** undefined where the text matches. */
export function stringMismatch(matcher: StringMatcherJson, text: string, readRegex: ReadRegex): Mismatch | undefined {
  const { exact, prefix, suffix, contains, safeRegex, ignoreCase = false, custom } = matcher;
  const fold = (one: string) => (ignoreCase ? one.toLowerCase() : one);
  const has = fold(text);
  const unless = (matches: boolean, why: string) => (matches ? undefined : mismatch(why));
  if (exact !== undefined) return unless(has === fold(exact), `is not ${quoted(exact)}`);
  if (prefix !== undefined) return unless(has.startsWith(fold(prefix)), `does not begin with ${quoted(prefix)}`);
  if (suffix !== undefined) return unless(has.endsWith(fold(suffix)), `does not end with ${quoted(suffix)}`);
  if (contains !== undefined) return unless(has.includes(fold(contains)), `does not contain ${quoted(contains)}`);
  // Case of a regular expression is its own affair.
  if (safeRegex !== undefined) return regexMismatch(safeRegex.regex ?? "", text, readRegex);
  return custom === undefined ? undefined : notFollowed("is judged by an extension");
}

/** The same for a regular expression, which has to take the whole text. */
export function regexMismatch(pattern: string, text: string, readRegex: ReadRegex): Mismatch | undefined {
  const read = readRegex(pattern);
  if (read === undefined) return notFollowed(`is matched by ${quoted(pattern)}`);
  return read.matches(text) ? undefined : mismatch(`does not match ${quoted(pattern)}`);
}

const maxQuoted = 200;

/** Between quotation marks, cut to what a person reads. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text);
