/**
 * How policies write values (`*`, `a*`, `*a`, `a`) in Envoy's matchers. A bare `*` means "present, not empty".
 * @see docs/how-istio-does-it/security.md#rules-and-parts
 */
import type { HeaderMatcherJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { StringMatcherJson } from "../../../gen/envoy/type/matcher/v3/string_pb.ts";

/** Takes a literal text out of RE2's syntax. */
export function quoteRegex(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}

export function regexMatch(regex: string): StringMatcherJson {
  return { safeRegex: { regex } };
}

/** Any text but the empty one. */
export const anyText: StringMatcherJson = regexMatch(".+");

/** Paths, SNI, claims: suffix, prefix or exact. */
export function textMatch(value: string): StringMatcherJson {
  if (value === "*") return anyText;
  if (value.startsWith("*")) return { suffix: value.slice(1) };
  if (value.endsWith("*")) return { prefix: value.slice(0, -1) };
  return { exact: value };
}

/** A SPIFFE identity; policies leave its `spiffe://` out. */
export function principalMatch(value: string): StringMatcherJson {
  if (value === "*") return anyText;
  if (value.startsWith("*")) return regexMatch(`spiffe://.*${quoteRegex(value.slice(1))}`);
  if (value.endsWith("*")) return { prefix: `spiffe://${value.slice(0, -1)}` };
  return { exact: `spiffe://${value}` };
}

/** A header; presence for `*`, since a prefix or suffix must not be empty. */
export function headerMatch(name: string, value: string, ignoreCase = false): HeaderMatcherJson {
  if (value === "*") return { name, presentMatch: true };
  return { name, stringMatch: { ...textMatch(value), ...(ignoreCase ? { ignoreCase } : {}) } };
}
