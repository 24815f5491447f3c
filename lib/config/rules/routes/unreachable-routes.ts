import { type Finding, type Path, warning } from "../../finding.ts";
import type { HTTPMatchRequest, StringMatch, VirtualService } from "../../kinds/virtual-service.ts";

/** Codes of the two warnings; the analysers report them as IST0130 and IST0131. */
export const unreachableRoute = "unreachable-route";
export const ineffectiveMatch = "ineffective-match";

interface AnyRoute {
  readonly name?: string;
  readonly match?: readonly object[];
}

/**
 * Rules that can never take a request, because earlier ones take it all.
 * @see docs/how-istio-does-it/kind-rules.md#unreachable-routes
 */
export function* unreachableRules(spec: VirtualService): Generator<Finding> {
  yield* listRules(spec.http ?? [], ["http"]);
  yield* coveredPrefixRules(spec);
  yield* listRules(spec.tls ?? [], ["tls"]);
  yield* listRules(spec.tcp ?? [], ["tcp"]);
}

function* listRules(routes: readonly AnyRoute[], path: Path): Generator<Finding> {
  const seen = new Map<string, number>();
  let catchAll: number | undefined;
  for (const [index, route] of routes.entries()) {
    const at = [...path, index];
    const matches = route.match ?? [];
    if (catchAll !== undefined) {
      const text = `is never used: rule ${catchAll} before it takes every request`;
      yield warning(at, text, "put the rule without match last", unreachableRoute);
      continue;
    }
    if (matches.length === 0) {
      catchAll = index;
      continue;
    }
    const repeated: number[] = [];
    for (const [position, match] of matches.entries()) {
      const text = JSON.stringify({ ...match, name: "" });
      const earlier = seen.get(text);
      if (earlier === undefined) seen.set(text, index);
      else {
        repeated.push(position);
        const message = `has no effect: rule ${earlier} before it has the same match`;
        yield warning([...at, "match", position], message, "", ineffectiveMatch);
      }
    }
    if (repeated.length === matches.length) {
      yield warning(at, "is never used: rules before it have all of its matches", "", unreachableRoute);
    }
  }
}

function* coveredPrefixRules(spec: VirtualService): Generator<Finding> {
  const earlier: { readonly match: HTTPMatchRequest; readonly prefix: string; readonly rule: number }[] = [];
  for (const [index, route] of (spec.http ?? []).entries()) {
    for (const [position, match] of (route.match ?? []).entries()) {
      const prefix = match.uri?.prefix;
      if (prefix === undefined) continue;
      const cover = earlier.find(
        (other) => other.prefix !== prefix && prefix.startsWith(other.prefix) && covers(other.match, match),
      );
      if (cover !== undefined) {
        const message = `has no effect: rule ${cover.rule} before it takes every path below ${cover.prefix}`;
        yield warning(["http", index, "match", position], message, "put the longer prefix first", ineffectiveMatch);
      }
      earlier.push({ match, prefix, rule: index });
    }
  }
}

/** Whether the rest of a match, its path aside, lets through all that another's rest does. */
function covers(wide: HTTPMatchRequest, narrow: HTTPMatchRequest): boolean {
  const get: StringMatch = { exact: "GET" };
  return (
    wide.port === narrow.port &&
    textCovers(wide.method ?? get, narrow.method ?? get) &&
    textCovers(wide.authority, narrow.authority) &&
    mapCovers(wide.headers, narrow.headers) &&
    mapCovers(wide.queryParams, narrow.queryParams) &&
    mapCovers(wide.withoutHeaders, narrow.withoutHeaders)
  );
}

type Matches = Readonly<Record<string, StringMatch>>;

function mapCovers(wide: Matches = {}, narrow: Matches = {}): boolean {
  const names = Object.keys(wide);
  return (
    names.length === Object.keys(narrow).length &&
    names.every((name) => Object.hasOwn(narrow, name) && textCovers(wide[name], narrow[name]))
  );
}

function textCovers(wide: StringMatch | undefined, narrow: StringMatch | undefined): boolean {
  if (wide === undefined || narrow === undefined) return wide === narrow;
  if (wide.prefix !== undefined) return (narrow.prefix ?? narrow.exact ?? "").startsWith(wide.prefix);
  return JSON.stringify(wide) === JSON.stringify(narrow);
}
