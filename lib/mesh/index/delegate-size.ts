/** How much the routes of a delegate come to when they are merged into the route that names it, worked out without merging them. */
import type { Config } from "../../config/config.ts";
import type { HTTPRoute, VirtualService } from "../../config/kinds/virtual-service.ts";
import { jsonLength, maxCopiedCharacters, routeOverhead } from "../../config/rules/expansion.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";

/** Lengths of routes in characters of JSON. */
interface RoutesSize {
  readonly routes: number;
  /** Of all routes together, without their matches. */
  readonly length: number;
  readonly matches: number;
  readonly matchLength: number;
  /** Routes that have no match. */
  readonly unmatched: number;
}

const sizeOf = (routes: readonly HTTPRoute[]): RoutesSize => {
  const matches = routes.reduce((sum, { match = [] }) => sum + match.length, 0);
  const matchLength = routes.reduce((sum, { match = [] }) => sum + (match.length === 0 ? 0 : jsonLength(match)), 0);
  return {
    routes: routes.length,
    length: jsonLength(routes) - matchLength + routes.length * routeOverhead,
    matches,
    matchLength: matchLength + matches * routeOverhead,
    unmatched: routes.filter(({ match = [] }) => match.length === 0).length,
  };
};

const delegateSize = query(
  "size of a delegate",
  ({ delegate }: { readonly delegate: Config<VirtualService> }): RoutesSize => sizeOf(delegate.spec.http ?? []),
);

const routeSize = query(
  "size of a delegating route",
  ({ route }: { readonly route: HTTPRoute }): RoutesSize => sizeOf([route]),
);

/** Each of the delegate's routes inherits what the root's route says; each of its matches is joined with each of the root's. */
function mergedLength(root: RoutesSize, delegate: RoutesSize): number {
  const inherited = delegate.routes * root.length + delegate.length;
  if (root.matches === 0) return inherited + delegate.matchLength;
  return inherited + (delegate.unmatched + delegate.matches) * root.matchLength + root.matches * delegate.matchLength;
}

/** Characters that a root may still come to; a route whose merged routes do not fit is left out. */
export interface MergeBudget {
  /** Takes what a route and its delegate come to together. @returns undefined where it fits, else that many characters */
  take(route: HTTPRoute, delegate: Config<VirtualService>): number | undefined;
}

export function createMergeBudget({ spec }: Config<VirtualService>, memo: Memo): MergeBudget {
  const { hosts, gateways = [] } = spec;
  const copies = Math.max(hosts.length, 1) * Math.max(gateways.length, 1);
  let left = maxCopiedCharacters;
  return {
    take(route, delegate) {
      const length = copies * mergedLength(routeSize(memo, { route }), delegateSize(memo, { delegate }));
      if (length > left) return length;
      left -= length;
      return undefined;
    },
  };
}
