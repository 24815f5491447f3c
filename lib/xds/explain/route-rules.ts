import type { RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import { canonicalJson } from "../../config/canonical-json.ts";
import type { Config } from "../../config/config.ts";
import type { HTTPMatchRequest, HTTPRoute, VirtualService } from "../../config/kinds/virtual-service.ts";
import { withFullNames } from "../../mesh/hosts/short-names.ts";
import { isOfKind } from "../../mesh/index/configs-by-kind.ts";
import { mergeDelegateRoutes } from "../../mesh/index/delegate.ts";
import { configPath, parseClusterName, routeName } from "../names.ts";
import { routeMatch } from "../routes/route-match.ts";
import { ruleOfGatewayApi } from "./gateway-api-rules.ts";
import type { FieldPath, RootObject, RootObjects } from "./root-object.ts";

/** One rule of an object that routes may be made by. */
export interface RouteRule {
  readonly object: RootObject;
  readonly path: FieldPath;
}

interface Candidate extends RouteRule {
  /** Name and match of the route that it makes, as one text. */
  readonly makes: string;
  /** `<subset>|<host>` of where it leads. */
  readonly destinations: ReadonlySet<string>;
  /** Namespace of the proxies that it is for; "" for all. */
  readonly sourceNamespace: string;
}

/**
 * Finds the rules that made the routes of a virtual host. A route says which object it is of; which rule of it is found by the name
 * and the match that each would have given, in order, as the generator goes through them.
 *
 * @param namespace of the proxy; "" where it is not known
 * @returns for each route its rule; undefined where none would make it so: it is nobody's rule, or a patch has changed it
 */
export function rulesOfRoutes(
  routes: readonly RouteJson[],
  objects: RootObjects,
  namespace: string,
): readonly (RouteRule | undefined)[] {
  const byPath = new Map<string, readonly Candidate[]>();
  const next = new Map<string, number>();
  return routes.map((route) => {
    const path = madeBy(route);
    if (path === undefined) return undefined;
    const candidates = byPath.get(path) ?? candidatesOf(path, objects);
    byPath.set(path, candidates);
    if (candidates.length === 0) return ruleOfGatewayApi(route, path.slice(path.lastIndexOf("~") + 1), objects);
    const wanted = makesText(route.name ?? "", route.match ?? {});
    const start = next.get(path) ?? 0;
    const isMeant = ({ makes, sourceNamespace }: Candidate) =>
      makes === wanted && (sourceNamespace === "" || namespace === "" || sourceNamespace === namespace);
    const alike = candidates.flatMap((candidate, at) => (isMeant(candidate) ? [{ candidate, at }] : []));
    const leads = alike.filter(({ candidate }) => leadsAlike(candidate, route));
    const fitting = leads.length > 0 ? leads : alike;
    const found = fitting.find(({ at }) => at >= start) ?? fitting[0];
    if (found === undefined) return undefined;
    next.set(path, found.at + 1);
    return { object: found.candidate.object, path: found.candidate.path };
  });
}

/** `/apis/<group>/<version>/namespaces/<namespace>/<kind>/<name>` of what a route was made from. */
export function madeBy({ metadata }: Pick<RouteJson, "metadata">): string | undefined {
  const config: unknown = metadata?.filterMetadata?.istio?.config;
  return typeof config === "string" ? config : undefined;
}

function candidatesOf(path: string, objects: RootObjects): readonly Candidate[] {
  const owner = objects.all.find(({ config }) => config !== undefined && configPath(config.meta) === path);
  const config = virtualServiceOf(owner);
  if (owner === undefined || config === undefined) return [];
  return (config.spec.http ?? []).flatMap((http, at): readonly Candidate[] => {
    if (http.delegate === undefined) return matchesOf(http, owner, ["spec", "http", at], http.match ?? []);
    const { name = "", namespace = config.meta.namespace } = http.delegate;
    const delegate = objects.get(`VirtualService/${namespace}/${name}`);
    if (delegate === undefined) return [];
    return (virtualServiceOf(delegate)?.spec.http ?? []).flatMap((own, i) => {
      const merged = mergeDelegateRoutes(http, [own]);
      // Its matches are the delegate's, once for each of the root's that fits.
      return merged.flatMap((route) =>
        matchesOf(route, delegate, ["spec", "http", i], own.match === undefined ? [] : (route.match ?? [])),
      );
    });
  });
}

function virtualServiceOf(object: RootObject | undefined): Config<VirtualService> | undefined {
  const config = object?.config;
  return config !== undefined && isOfKind(config, "VirtualService") ? withFullNames(config) : undefined;
}

function matchesOf(
  http: HTTPRoute,
  object: RootObject,
  path: FieldPath,
  own: readonly HTTPMatchRequest[],
): readonly Candidate[] {
  const destinations = new Set((http.route ?? []).map(({ destination: { subset = "", host } }) => `${subset}|${host}`));
  const matches = http.match ?? [];
  const of = (match: HTTPMatchRequest | undefined, field: FieldPath): Candidate => ({
    object,
    path: field,
    makes: makesText(routeName(http.name, match?.name), routeMatch(match, false)),
    destinations,
    sourceNamespace: (match?.gateways ?? []).length > 0 ? "" : (match?.sourceNamespace ?? ""),
  });
  if (matches.length === 0) return [of(undefined, path)];
  return matches.map((match, i) => of(match, own.length === matches.length ? [...path, "match", i] : path));
}

const makesText = (name: string, match: object): string => canonicalJson([name, match]);

function leadsAlike({ destinations }: Candidate, { route }: RouteJson): boolean {
  const clusters = [route?.cluster, ...(route?.weightedClusters?.clusters ?? []).map(({ name }) => name)];
  const led = clusters.flatMap((name) => {
    const parts = parseClusterName(name ?? "");
    return parts === undefined ? [] : [`${parts.subset}|${parts.host}`];
  });
  return led.length === 0 ? destinations.size === 0 : led.every((one) => destinations.has(one));
}
