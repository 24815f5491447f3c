import { canonicalJson } from "../../canonical-json.ts";
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
      const text = matchText(match);
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

/** What a match compares: its name decides nothing, nor does the order of its fields. */
function matchText(match: object): string {
  const { name: _name, ...compared }: { readonly name?: unknown } = match;
  return canonicalJson(compared);
}

function* coveredPrefixRules(spec: VirtualService): Generator<Finding> {
  const earlier = createPrefixIndex();
  for (const [index, route] of (spec.http ?? []).entries()) {
    for (const [position, match] of (route.match ?? []).entries()) {
      const prefix = match.uri?.prefix;
      if (prefix === undefined) continue;
      const cover = earlier.find(prefix, match);
      if (cover !== undefined) {
        const message = `has no effect: rule ${cover.rule} before it takes every path below ${cover.prefix}`;
        yield warning(["http", index, "match", position], message, "put the longer prefix first", ineffectiveMatch);
      }
      earlier.add({ match, prefix, rule: index });
    }
  }
}

/** Matches by prefix: those that may cover another are looked up by its beginnings. */
interface PrefixIndex {
  add(match: PrefixMatch): void;
  /** The first one that takes all that a match with this prefix would take. */
  find(prefix: string, match: HTTPMatchRequest): PrefixMatch | undefined;
}

interface PrefixMatch {
  readonly match: HTTPMatchRequest;
  readonly prefix: string;
  readonly rule: number;
}

/** Of matches with one prefix so many are compared: a list of thousands says nothing more with the others, and costs their square. */
const maxOfPrefix = 16;
/** Longer prefixes are not looked for: each length of a prefix is a lookup for every match. */
const longestPrefix = 256;

function createPrefixIndex(): PrefixIndex {
  const byPrefix = new Map<string, { readonly order: number; readonly of: PrefixMatch }[]>();
  const lengths = new Set<number>();
  let added = 0;
  return {
    add(of) {
      const { prefix } = of;
      if (prefix.length > longestPrefix) return;
      added += 1;
      lengths.add(prefix.length);
      const known = byPrefix.get(prefix);
      if (known === undefined) byPrefix.set(prefix, [{ order: added, of }]);
      else if (known.length < maxOfPrefix) known.push({ order: added, of });
    },
    find(prefix, match) {
      let [first, order]: [PrefixMatch | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
      for (const length of lengths) {
        if (length >= prefix.length) continue;
        const found = byPrefix.get(prefix.slice(0, length))?.find((other) => covers(other.of.match, match));
        if (found !== undefined && found.order < order) [first, order] = [found.of, found.order];
      }
      return first;
    },
  };
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
