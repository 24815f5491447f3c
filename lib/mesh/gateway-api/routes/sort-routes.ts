import type { HTTPMatchRequest, HTTPRoute } from "../../../config/kinds/virtual-service.ts";

/**
 * Routes in the order in which the Gateway API tries them: by kind and length of the path, then those with a method, then by
 * the number of headers and of query parameters; else as written. What matches everything comes last.
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, sortHTTPRoutes
 */
export function inOrderOfPrecedence(routes: readonly HTTPRoute[]): readonly HTTPRoute[] {
  return routes
    .map((route) => ({ route, rank: rankOf(route.match?.[0]) }))
    .sort((a, b) => compare(b.rank, a.rank))
    .map(({ route }) => route);
}

type Rank = readonly number[];

function rankOf(match: HTTPMatchRequest | undefined): Rank {
  if (match === undefined) return [-2];
  const { uri, method, headers, queryParams } = match;
  const kind = uri?.exact !== undefined ? 3 : uri?.prefix !== undefined ? 2 : uri?.regex !== undefined ? 1 : -1;
  const length = bytesOf(uri?.exact ?? uri?.prefix ?? uri?.regex ?? "");
  return [kind, length, method === undefined ? 0 : 1, sizeOf(headers), sizeOf(queryParams)];
}

/** In UTF-8, as Istio counts. */
const bytesOf = (text: string): number =>
  /[\u0080-\uffff]/.test(text) ? new TextEncoder().encode(text).length : text.length;

const sizeOf = (map: object | undefined): number => (map === undefined ? 0 : Object.keys(map).length);

function compare(a: Rank, b: Rank): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
