import type { RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import { canonicalJson } from "../../config/canonical-json.ts";
import type { HTTPRoute } from "../../config/kinds/virtual-service.ts";
import type { BackendSource, RuleContext } from "../../mesh/gateway-api/backends/backends.ts";
import { grpcRule, httpRule, type RuleResult } from "../../mesh/gateway-api/routes/http-rules.ts";
import { isOfKind } from "../../mesh/index/configs-by-kind.ts";
import { parseClusterName } from "../names.ts";
import { routeMatch } from "../routes/route-match.ts";
import type { FieldPath, RootObject, RootObjects } from "./root-object.ts";

/** One rule of an HTTPRoute or GRPCRoute, or one of its matches. */
interface RuleOfGatewayApi {
  readonly object: RootObject;
  readonly path: FieldPath;
}

/** What one match of a rule makes. */
interface Made extends RuleOfGatewayApi {
  readonly route: HTTPRoute;
  readonly hostnames: readonly string[];
}

/**
 * The rule that made a route. A route has the name of its rule: `<namespace>.<name>.<index>`, or as the rule calls itself. Of several
 * rules that call themselves alike it is the one with its match, its backends and its host.
 *
 * @param host of the virtual service that the route is of
 */
export function ruleOfGatewayApi(
  route: RouteJson,
  host: string,
  { all }: Pick<RootObjects, "all">,
): RuleOfGatewayApi | undefined {
  const made = all.flatMap((object) => madeBy(object, route.name ?? ""));
  const fits = ({ route: own, hostnames }: Made): number =>
    (hasMatch(own, route) ? 4 : 0) + (leadsAlike(own, route) ? 2 : 0) + (hostnames.includes(host) ? 1 : 0);
  const [best] = made.map((one) => ({ one, rank: fits(one) })).sort((a, b) => b.rank - a.rank);
  return best && { object: best.one.object, path: best.one.path };
}

/** Of an object the rules of a name, a match at a time. */
function madeBy(object: RootObject, name: string): readonly Made[] {
  const { config } = object;
  if (config === undefined) return [];
  if (isOfKind(config, "HTTPRoute.gateway.networking.k8s.io")) {
    const { rules, hostnames = [] } = config.spec;
    return rules.flatMap((rule, at) =>
      isNamed(rule, at, object, name)
        ? rule.matches.flatMap((match, i) =>
            routesOf(httpRule({ ...rule, matches: [match] }, at, contextOf(object))).map(
              (route): Made => ({ object, route, hostnames, path: pathOf(at, i, rule.matches) }),
            ),
          )
        : [],
    );
  }
  if (!isOfKind(config, "GRPCRoute.gateway.networking.k8s.io")) return [];
  const { rules = [], hostnames = [] } = config.spec;
  return rules.flatMap((rule, at) => {
    if (!isNamed(rule, at, object, name)) return [];
    const { matches = [] } = rule;
    const alone = matches.length === 0 ? [rule] : matches.map((match) => ({ ...rule, matches: [match] }));
    return alone.flatMap((one, i) =>
      routesOf(grpcRule(one, at, contextOf(object))).map(
        (route): Made => ({ object, route, hostnames, path: pathOf(at, i, matches) }),
      ),
    );
  });
}

/** A rule with one match, or none, is named as a whole. */
const pathOf = (rule: number, match: number, matches: readonly object[]): FieldPath =>
  matches.length < 2 ? ["spec", "rules", rule] : ["spec", "rules", rule, "matches", match];

const isNamed = (
  rule: { readonly name?: string },
  at: number,
  { namespace, name: owner }: RootObject,
  name: string,
): boolean => name === (rule.name ?? `${namespace}.${owner}.${at}`);

const routesOf = (made: RuleResult<HTTPRoute>): readonly HTTPRoute[] => (made.kind === "routes" ? made.routes : []);

/** Whether what is named is there counts for the status of a route, and not for what its rules are. */
const everything: BackendSource = {
  hasService: () => true,
  hasHost: () => true,
  readsBackends: () => true,
  backend: () => undefined,
  // Of a rule without backends nothing leads anywhere, whatever it is answered with.
  statusWithoutBackends: () => 500,
  isGranted: () => true,
};

const contextOf = ({ kind, name, namespace, config }: RootObject): RuleContext => ({
  kind,
  name,
  namespace,
  domain: config?.meta.domain ?? "",
  isMesh: true,
  source: everything,
});

/** Of the mesh a match may have a port besides, which Envoy is not told. */
const hasMatch = ({ match }: HTTPRoute, route: RouteJson): boolean =>
  canonicalJson(routeMatch(match?.[0], true)) === canonicalJson(route.match ?? {});

function leadsAlike({ route: parts = [] }: HTTPRoute, { route }: RouteJson): boolean {
  const hosts = new Set(parts.map(({ destination }) => destination.host));
  const clusters = [route?.cluster, ...(route?.weightedClusters?.clusters ?? []).map(({ name }) => name)];
  const led = clusters.flatMap((name) => parseClusterName(name ?? "")?.host ?? []);
  // Where an XBackend leads is not known here.
  if (hosts.has("")) return true;
  return led.length === 0 ? hosts.size === 0 : led.every((host) => hosts.has(host));
}
