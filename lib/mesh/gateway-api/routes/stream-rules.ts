import type { StreamRouteRule } from "../../../config/gateway-api/other-routes.ts";
import type { RouteDestination, TCPRoute, TLSRoute } from "../../../config/kinds/virtual-service.ts";
import { intersectHosts } from "../../../config/values/host-name.ts";
import { backendsOf, type RuleContext, weightOf } from "../backends/backends.ts";
import type { RuleResult } from "./http-rules.ts";

/** Stands for a rule whose backends take nothing: there is no cluster of this name, so connections are closed. */
const noBackend: RouteDestination = {
  destination: { host: "internal.cluster.local", subset: "zero-weight", port: { number: 65_535 } },
};

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, convertTCPRoute */
export function tcpRule({ backendRefs }: StreamRouteRule, context: RuleContext): RuleResult<TCPRoute> {
  if (weightOf(backendRefs) === 0) return { kind: "routes", routes: [{ route: [noBackend] }], problem: undefined };
  const backends = backendsOf(backendRefs, context);
  if (backends.kind === "refused") return backends;
  const route = backends.parts.map(({ destination, weight }) => ({
    destination,
    ...(weight === 0 ? {} : { weight }),
  }));
  return { kind: "routes", routes: [{ route }], problem: backends.problem };
}

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, convertTLSRoute */
export function tlsRule(
  rule: StreamRouteRule,
  hostnames: readonly string[],
  context: RuleContext,
): RuleResult<TLSRoute> {
  const made = tcpRule(rule, context);
  if (made.kind === "refused") return made;
  // As in Istio, a rule without backends matches nothing.
  const match = weightOf(rule.backendRefs) === 0 ? [] : [{ sniHosts: hostnames.length === 0 ? ["*"] : hostnames }];
  const routes = made.routes.map(({ route = [] }): TLSRoute => ({ match, route }));
  return { kind: "routes", routes, problem: made.problem };
}

/** Routes for the names that a listener has in common with them; without those that have none. */
export function atListener(routes: readonly TLSRoute[], hostname: string): readonly TLSRoute[] {
  if (hostname === "") return routes;
  return routes.flatMap((route) => {
    const match = route.match.map((of) => ({ ...of, sniHosts: intersectHosts(of.sniHosts, [hostname]) }));
    return match.length === 0 || match.some(({ sniHosts }) => sniHosts.length > 0) ? [{ ...route, match }] : [];
  });
}

/** Routes of the mesh: names that nobody wrote are those of the parent, and a port of the parent is one of the match. */
export function atService(
  routes: readonly TLSRoute[],
  port: number | undefined,
  parentHosts: readonly string[],
): readonly TLSRoute[] {
  return routes.map((route) => {
    const [only, ...others] = route.match;
    const isAny = others.length === 0 && only?.sniHosts.length === 1 && only.sniHosts[0] === "*";
    const match = route.match.map((of) => ({
      ...of,
      ...(isAny ? { sniHosts: parentHosts } : {}),
      ...(port === undefined ? {} : { port }),
    }));
    return { ...route, match };
  });
}
