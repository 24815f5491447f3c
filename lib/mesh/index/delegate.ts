/**
 * Merging the routes of a delegate into the route that names it.
 * @see docs/how-istio-does-it/virtual-services.md#delegates
 * @see istio 1.30.3 pilot/pkg/model/virtualservice.go
 */
import type { HTTPMatchRequest, HTTPRoute, StringMatch } from "../../config/kinds/virtual-service.ts";
import { isSubset } from "../../config/values/labels.ts";

/**
 * The routes that a root's route stands for: each of the delegate's that does not conflict with it, merged.
 * A route is dropped whole as soon as one of its matches fits none of the root's.
 */
export function mergeDelegateRoutes(root: HTTPRoute, routes: readonly HTTPRoute[]): readonly HTTPRoute[] {
  return routes.flatMap((route) => {
    const merged = mergeRoute(root, route);
    return merged === undefined ? [] : [merged];
  });
}

function mergeRoute(root: HTTPRoute, route: HTTPRoute): HTTPRoute | undefined {
  const match = mergeMatches(root.match ?? [], route.match ?? []);
  if (match === undefined) return undefined;
  const { match: _rootMatch, delegate: _delegate, route: _rootTo, redirect: _redirect, ...inherited } = root;
  const { match: _match, ...own } = route;
  const name = joinNames(root.name, route.name);
  return { ...inherited, ...own, ...(name === "" ? {} : { name }), ...(match.length === 0 ? {} : { match }) };
}

const joinNames = (root: string | undefined, delegate: string | undefined): string =>
  [root, delegate].filter((name) => name !== undefined && name !== "").join("-");

/** Every compatible pair, the delegate's matches outermost; undefined when one of the delegate's fits none of the root's. */
function mergeMatches(
  root: readonly HTTPMatchRequest[],
  delegate: readonly HTTPMatchRequest[],
): readonly HTTPMatchRequest[] | undefined {
  if (root.length === 0) return delegate;
  if (delegate.length === 0) return root;
  const merged: HTTPMatchRequest[] = [];
  for (const own of delegate) {
    const fitting = root.filter((of) => !conflicts(of, own));
    if (fitting.length === 0) return undefined;
    for (const of of fitting) merged.push(mergeMatch(of, own));
  }
  return merged;
}

function mergeMatch(root: HTTPMatchRequest, own: HTTPMatchRequest): HTTPMatchRequest {
  const name = joinNames(root.name, own.name);
  const { ignoreUriCase: _ignore, name: _name, ...inherited } = root;
  return {
    ...inherited,
    ...own,
    ...(name === "" ? {} : { name }),
    ...united("headers", root.headers, own.headers),
    ...united("withoutHeaders", root.withoutHeaders, own.withoutHeaders),
    ...united("queryParams", root.queryParams, own.queryParams),
    ...united("sourceLabels", root.sourceLabels, own.sourceLabels),
  };
}

/** One map of both, the delegate's value on equal keys; no field when both are absent. */
function united<K extends string, T>(
  field: K,
  root: Readonly<Record<string, T>> | undefined,
  own: Readonly<Record<string, T>> | undefined,
): { readonly [P in K]?: Readonly<Record<string, T>> } {
  if (root === undefined && own === undefined) return {};
  const both: { [P in K]?: Readonly<Record<string, T>> } = {};
  both[field] = { ...root, ...own };
  return both;
}

function conflicts(root: HTTPMatchRequest, own: HTTPMatchRequest): boolean {
  return (
    textsConflict(root.uri, own.uri) ||
    textsConflict(root.scheme, own.scheme) ||
    textsConflict(root.method, own.method) ||
    textsConflict(root.authority, own.authority) ||
    mapsConflict(root.headers, own.headers) ||
    mapsConflict(root.withoutHeaders, own.withoutHeaders) ||
    mapsConflict(root.queryParams, own.queryParams) ||
    (root.ignoreUriCase ?? false) !== (own.ignoreUriCase ?? false) ||
    ((root.port ?? 0) > 0 && (own.port ?? 0) > 0 && root.port !== own.port) ||
    (root.sourceNamespace !== undefined && root.sourceNamespace !== own.sourceNamespace) ||
    !isSubset(sharedLabels(root.sourceLabels, own.sourceLabels), own.sourceLabels ?? {}) ||
    gatewaysConflict(root.gateways ?? [], own.gateways ?? [])
  );
}

/** The root's labels that the delegate names too. */
function sharedLabels(
  root: Readonly<Record<string, string>> = {},
  own: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(root).filter(([key]) => key in own));
}

const gatewaysConflict = (root: readonly string[], own: readonly string[]): boolean =>
  root.length > 0 && own.length > 0 && !own.every((gateway) => root.includes(gateway));

function mapsConflict(
  root: Readonly<Record<string, StringMatch>> = {},
  own: Readonly<Record<string, StringMatch>> = {},
): boolean {
  return Object.entries(own).some(([key, match]) => key in root && textsConflict(root[key], match));
}

/** The delegate may only narrow the root: a regular expression on either side cannot be compared and conflicts. */
function textsConflict(root: StringMatch | undefined, own: StringMatch | undefined): boolean {
  if (root === undefined || own === undefined) return false;
  if (root.regex !== undefined || own.regex !== undefined) return true;
  if (root.exact !== undefined) return own.exact !== root.exact;
  if (root.prefix === undefined) return false;
  return !(own.exact ?? own.prefix ?? "").startsWith(root.prefix);
}
