import type { StringMatcherJson } from "../../../../gen/envoy/type/matcher/v3/string_pb.ts";
import type { StringMatch } from "../../../config/kinds/virtual-service.ts";

/** Envoy's matcher for Istio's; undefined for `{}`, which says nothing. Regular expressions match whole texts in both. */
export function stringMatcher(match: StringMatch): StringMatcherJson | undefined {
  if (match.exact !== undefined) return { exact: match.exact };
  if (match.prefix !== undefined) return { prefix: match.prefix };
  if (match.regex !== undefined) return { safeRegex: { regex: match.regex } };
  return undefined;
}

/** True where only presence is asked for: `{}`, or the regular expression `*`, which is no valid one. */
export function matchesPresence(match: StringMatch): boolean {
  return match.regex === "*" || stringMatcher(match) === undefined;
}
