import type { Config } from "../../../config/config.ts";
import type { CommonRoute, KubernetesHTTPRoute } from "../../../config/gateway-api/http-route.ts";
import type { GRPCRoute, KubernetesTCPRoute, KubernetesTLSRoute } from "../../../config/gateway-api/other-routes.ts";
import type { HTTPRoute, TCPRoute, TLSRoute } from "../../../config/kinds/virtual-service.ts";
import type { BackendSource, RuleContext } from "../backends/backends.ts";
import type { Problem } from "../problem.ts";
import { grpcRule, httpRule, type RuleResult } from "./http-rules.ts";
import { inOrderOfPrecedence } from "./sort-routes.ts";
import { tcpRule, tlsRule } from "./stream-rules.ts";

/** A route of any kind. */
export type RouteConfig =
  | { readonly kind: "HTTPRoute"; readonly config: Config<KubernetesHTTPRoute> }
  | { readonly kind: "GRPCRoute"; readonly config: Config<GRPCRoute> }
  | { readonly kind: "TLSRoute"; readonly config: Config<KubernetesTLSRoute> }
  | { readonly kind: "TCPRoute"; readonly config: Config<KubernetesTCPRoute> };

/** The rules of a route, translated: one of the three lists holds them, if nothing refuses the route. */
export interface MadeRules {
  readonly http: readonly HTTPRoute[];
  readonly tls: readonly TLSRoute[];
  readonly tcp: readonly TCPRoute[];
  readonly problem: Problem | undefined;
}

/** Host names of a route; none: those of its listeners. */
export function hostnamesOf(route: RouteConfig): readonly string[] {
  return route.kind === "TCPRoute" ? [] : (route.config.spec.hostnames ?? []);
}

export const parentRefsOf = ({ config }: RouteConfig): NonNullable<CommonRoute["parentRefs"]> =>
  config.spec.parentRefs ?? [];

/** All objects that a route names as backends. */
export function backendRefsOf(route: RouteConfig): readonly {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}[] {
  const rules: readonly { readonly backendRefs?: readonly RouteBackend[] }[] = route.config.spec.rules ?? [];
  return rules.flatMap(({ backendRefs = [] }) => backendRefs);
}

interface RouteBackend {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

const noRules: MadeRules = { http: [], tls: [], tcp: [], problem: undefined };

/** @param isMesh for the callers of services, whose backends need no grants */
export function madeRules(route: RouteConfig, isMesh: boolean, source: BackendSource): MadeRules {
  const { name, namespace, domain } = route.config.meta;
  const context: RuleContext = { kind: route.kind, name, namespace, domain, isMesh, source };
  switch (route.kind) {
    case "HTTPRoute": {
      const all = joined(route.config.spec.rules.map((rule, at) => httpRule(rule, at, context)));
      return { ...noRules, http: inOrderOfPrecedence(all.routes), problem: all.problem };
    }
    case "GRPCRoute": {
      const all = joined((route.config.spec.rules ?? []).map((rule, at) => grpcRule(rule, at, context)));
      return { ...noRules, http: inOrderOfPrecedence(all.routes), problem: all.problem };
    }
    case "TLSRoute": {
      const { rules, hostnames = [] } = route.config.spec;
      const all = joined(rules.map((rule) => tlsRule(rule, hostnames, context)));
      return { ...noRules, tls: all.routes, problem: all.problem };
    }
    default: {
      const all = joined(route.config.spec.rules.map((rule) => tcpRule(rule, context)));
      return { ...noRules, tcp: all.routes, problem: all.problem };
    }
  }
}

/** Routes of all rules; none if one of them is refused. The last problem is told. */
function joined<Route>(results: readonly RuleResult<Route>[]): {
  readonly routes: readonly Route[];
  readonly problem: Problem | undefined;
} {
  const refusal = results.find((result) => result.kind === "refused");
  if (refusal !== undefined) return { routes: [], problem: refusal.problem };
  return {
    routes: results.flatMap((result) => (result.kind === "routes" ? result.routes : [])),
    problem: results.findLast(({ problem }) => problem !== undefined)?.problem,
  };
}
