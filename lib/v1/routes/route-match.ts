import { byCodePoint } from "../../base/diagnostic.ts";
import type { MatchCondition } from "../../config/kinds/legacy/route-rule.ts";
import type { StringMatch } from "../../config/kinds/virtual-service.ts";
import type { HeaderMatch, Route } from "../documents.ts";

/** What a route compares: a path or a prefix, and headers. */
export type RouteMatch = Pick<Route, "path" | "prefix" | "headers">;

/**
 * Translates the match of a rule; a path given as an expression becomes a header named `uri`.
 * @see docs/how-istio-does-it/legacy-v1.md#routes
 */
export function routeMatch(match: MatchCondition | undefined): RouteMatch {
  const { uri, ...others } = match?.request?.headers ?? {};
  const headers = Object.entries(others).map(([name, value]) => headerMatch(envoyName(name), value));
  if (uri?.regex !== undefined) headers.push(headerMatch("uri", uri));
  const path = uri?.exact === undefined ? { prefix: uri?.prefix ?? "/" } : { path: uri.exact };
  return { ...path, ...(headers.length === 0 ? {} : { headers: sortHeaders(headers) }) };
}

/** A header of a rule as Envoy compares it: prefixes become expressions. */
export function headerMatch(name: string, match: StringMatch): HeaderMatch {
  if (match.prefix !== undefined) return { name, value: `^${quoted(match.prefix)}.*`, regex: true };
  if (match.regex !== undefined) return { name, value: match.regex, regex: true };
  return { name, value: match.exact ?? "" };
}

/** By name; expressions before plain values; by value. */
export function sortHeaders(headers: readonly HeaderMatch[]): readonly HeaderMatch[] {
  return [...headers].sort(
    (a, b) =>
      byCodePoint(a.name, b.name) ||
      Number(b.regex ?? false) - Number(a.regex ?? false) ||
      byCodePoint(a.value, b.value),
  );
}

/** A route that takes every request: nothing behind it is reached. */
export function isCatchAll(route: RouteMatch): boolean {
  return route.headers === undefined && route.path === undefined && route.prefix === "/";
}

const pseudoHeaders: ReadonlySet<string> = new Set(["authority", "method", "scheme"]);

const envoyName = (name: string): string => (pseudoHeaders.has(name) ? `:${name}` : name);

function quoted(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}
