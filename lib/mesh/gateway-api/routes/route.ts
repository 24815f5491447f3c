import type { ConfigKey } from "../../../base/diagnostic.ts";
import { type Config, keyOf } from "../../../config/config.ts";
import type { HTTPRoute, VirtualService } from "../../../config/kinds/virtual-service.ts";
import { intersectHosts } from "../../../config/values/host-name.ts";
import { internList } from "../../../incremental/keep-identity.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import { trackedQuery } from "../../../incremental/tracked-query.ts";
import { routeSemanticsAnnotation } from "../../index/virtual-service-index.ts";
import type { BackendSource } from "../backends/backends.ts";
import { made, madeName, parentsAnnotation } from "../made-objects.ts";
import { type AttachedParent, attachedParents, isServedAt, type ParentSource } from "./parents.ts";
import { hostnamesOf, type MadeRules, madeRules, parentRefsOf, type RouteConfig } from "./route-kinds.ts";
import { inOrderOfPrecedence } from "./sort-routes.ts";
import { atListener, atService } from "./stream-rules.ts";

/** What a route may ask of the rest of the world. */
export type RouteSource = ParentSource & BackendSource;

/** A route with all that it is attached to. */
export interface MadeRoute {
  readonly route: RouteConfig;
  readonly parents: readonly AttachedParent[];
  /** What is wrong with its rules at gateways, and for callers of services. */
  readonly problems: { readonly gateway: MadeRules["problem"]; readonly mesh: MadeRules["problem"] };
  /** HTTP: one for each parent and host, to be merged with those of other routes by `key`. */
  readonly parts: readonly RoutePart[];
  /** TLS and TCP. */
  readonly virtualServices: readonly Config<VirtualService>[];
}

/** The routes of one object for one host of one parent. */
export interface RoutePart {
  /** Parent and host; parts of one key are one virtual service. */
  readonly key: string;
  readonly config: Config<VirtualService>;
}

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/route_collections.go */
function madeRoute(memo: Memo, route: RouteConfig, source: RouteSource): MadeRoute {
  const { kind, config } = route;
  const parents = parentsOf(memo, { kind, config }, source).value;
  const rules = (isMesh: boolean): MadeRules | undefined =>
    parents.some((parent) => isOfMesh(parent) === isMesh)
      ? rulesOf(memo, { kind, config, isMesh }, source).value
      : undefined;
  return assembled(memo, { kind, config, parents, mesh: rules(true), gateway: rules(false) });
}

interface RouteAmong extends RouteInputs {
  readonly source: RouteSource;
}

/** The same, remembered by its surroundings as a whole: where nothing around it has changed, a route asks nothing. */
export const routeAmong = query(
  "route of the Gateway API among its surroundings",
  ({ source, ...inputs }: RouteAmong, memo: Memo): MadeRoute => madeRoute(memo, inputs as RouteConfig, source),
);

interface RouteInputs {
  readonly kind: RouteConfig["kind"];
  readonly config: RouteConfig["config"];
}

const isOfMesh = ({ parent }: AttachedParent): boolean => parent.name === "mesh";

const parentsOf = trackedQuery(
  "parents of a route of the Gateway API",
  (inputs: RouteInputs, source: ParentSource): readonly AttachedParent[] => {
    const route = inputs as RouteConfig;
    const { namespace, domain } = route.config.meta;
    return attachedParents(
      { kind: route.kind, namespace, domain, hostnames: hostnamesOf(route), parentRefs: parentRefsOf(route) },
      source,
    );
  },
);

interface AssembledInputs extends RouteInputs {
  readonly parents: readonly AttachedParent[];
  readonly mesh: MadeRules | undefined;
  readonly gateway: MadeRules | undefined;
}

const assembled = query(
  "route of the Gateway API",
  ({ parents, mesh, gateway, ...inputs }: AssembledInputs, memo: Memo): MadeRoute => {
    const route = inputs as RouteConfig;
    const attached = parents
      .filter(({ denial }) => denial === undefined)
      .sort((a, b) => (a.parent.name === b.parent.name ? 0 : a.parent.name < b.parent.name ? -1 : 1));
    const places = attached.flatMap((parent): Place[] => {
      const rules = isOfMesh(parent) ? mesh : gateway;
      return rules === undefined ? [] : [{ parent, rules }];
    });
    const isHttp = route.kind === "HTTPRoute" || route.kind === "GRPCRoute";
    return {
      route,
      parents,
      problems: { gateway: gateway?.problem, mesh: mesh?.problem },
      parts: isHttp ? places.flatMap((place) => httpParts(route, place, memo)) : [],
      virtualServices: isHttp ? [] : streamServices(route, places),
    };
  },
);

/** By themselves: a change of a listener leaves the rules of the routes there as they are. */
const rulesOf = trackedQuery(
  "rules of a route of the Gateway API",
  ({ isMesh, ...route }: RouteInputs & { readonly isMesh: boolean }, source: BackendSource): MadeRules =>
    madeRules(route as RouteConfig, isMesh, source),
);

/** One of the parents that a route is attached to, and what it brings there. */
interface Place {
  readonly parent: AttachedParent;
  readonly rules: MadeRules;
}

function httpParts(route: RouteConfig, place: Place, memo: Memo): readonly RoutePart[] {
  const { parent, rules } = place;
  const { serviceHosts } = parent;
  if (rules.http.length === 0) return [];
  const { config } = route;
  const hostnames = hostnamesOf(route);
  const hosts = serviceHosts ?? (hostnames.length === 0 ? ["*"] : hostnames);
  const port = serviceHosts === undefined ? undefined : parent.ref.port;
  // Of the mesh the namespace says whose routes are merged.
  const scope =
    serviceHosts === undefined ? parent.parent.name : `${config.meta.namespace}${port === undefined ? "" : `/${port}`}`;
  return hosts
    .filter((host) => isServedAt(parent, host))
    .map((host) => routePart(memo, { config, http: rules.http, gateway: parent.parent.name, host, port, scope }));
}

interface PartInputs {
  readonly config: RouteConfig["config"];
  readonly http: readonly HTTPRoute[];
  readonly gateway: string;
  readonly host: string;
  readonly port: number | undefined;
  readonly scope: string;
}

const routePart = query(
  "part of a route of the Gateway API",
  ({ config, http, gateway, host, port, scope }: PartInputs): RoutePart => {
    const key = `${scope}/${host}`;
    return {
      key,
      config: made<VirtualService>(config, {
        kind: "VirtualService",
        name: key.replaceAll("/", "~"),
        annotations: annotationsOf([config]),
        spec: { hosts: [host], gateways: [gateway], http: port === undefined ? http : withPort(http, port) },
        madeFrom: { spec: ["spec"] },
      }),
    };
  },
);

const withPort = (routes: readonly HTTPRoute[], port: number): readonly HTTPRoute[] =>
  routes.map((route) => ({
    ...route,
    match: route.match === undefined ? [{ port }] : route.match.map((match) => ({ ...match, port })),
  }));

const annotationsOf = (configs: readonly Config[]): Readonly<Record<string, string>> => ({
  [routeSemanticsAnnotation]: "gateway",
  [parentsAnnotation]: configs.map(({ meta }) => `${meta.kind}/${meta.name}.${meta.namespace}`).join(","),
});

function streamServices(route: RouteConfig, places: readonly Place[]): readonly Config<VirtualService>[] {
  const services: Config<VirtualService>[] = [];
  const { config } = route;
  const infix = route.kind === "TLSRoute" ? "tls" : "tcp";
  for (const place of places) {
    for (const spec of route.kind === "TLSRoute" ? tlsSpecs(route, place) : tcpSpecs(place)) {
      services.push(
        made<VirtualService>(config, {
          kind: "VirtualService",
          name: `${config.meta.name}~${infix}~${services.length}~${madeName}`,
          annotations: annotationsOf([config]),
          spec,
          madeFrom: { spec: ["spec"] },
        }),
      );
    }
  }
  return services;
}

/** One for each host, so that each is decided by itself. */
function tlsSpecs(route: RouteConfig, { parent, rules }: Place): readonly VirtualService[] {
  const { serviceHosts } = parent;
  const gateways = [parent.parent.name];
  if (serviceHosts !== undefined) {
    const tls = atService(rules.tls, parent.ref.port, serviceHosts);
    return serviceHosts.map((host) => ({ hosts: [host], gateways, tls: forHost(tls, host) }));
  }
  const named = hostnamesOf(route);
  const hostnames = named.length === 0 ? ["*"] : named;
  const { hostname } = parent.parent;
  const hosts = hostname === "" ? hostnames : intersectHosts(hostnames, [hostname]);
  const tls = atListener(rules.tls, hostname);
  return hosts.map((host) => ({ hosts: [host], gateways, tls }));
}

/** Of several names those that a host of the parent has in common with them. */
function forHost(routes: NonNullable<VirtualService["tls"]>, host: string): NonNullable<VirtualService["tls"]> {
  return routes.map((route) => {
    const [only, ...others] = route.match;
    if (only === undefined || others.length > 0 || only.sniHosts.length < 2) return route;
    return {
      ...route,
      match: [{ ...only, sniHosts: only.sniHosts.filter((name) => intersectHosts([name], [host]).length > 0) }],
    };
  });
}

function tcpSpecs({ parent, rules }: Place): readonly VirtualService[] {
  const { serviceHosts } = parent;
  const { port } = parent.ref;
  const gateways = [parent.parent.name];
  if (serviceHosts === undefined) return [{ hosts: ["*"], gateways, tcp: rules.tcp }];
  const tcp = port === undefined ? rules.tcp : rules.tcp.map((route) => ({ ...route, match: [{ port }] }));
  return serviceHosts.map((host) => ({ hosts: [host], gateways, tcp }));
}

/**
 * The parts of all routes, merged by their keys: the oldest object gives the place, and every object its routes.
 *
 * @param namesakesLeftOut a GRPCRoute loses to an HTTPRoute of its name, part by part
 */
export function mergedParts(
  memo: Memo,
  routes: readonly MadeRoute[],
  namesakesLeftOut: boolean,
): readonly Config<VirtualService>[] {
  const byKey = new Map<string, Config<VirtualService>[]>();
  const namesakes = namesakesLeftOut ? partsOfHttp(routes) : undefined;
  for (const { route, parts } of routes) {
    const taken = route.kind === "GRPCRoute" ? (namesakes?.get(nameOf(route)) ?? 0) : 0;
    for (const { key, config } of parts.slice(taken)) {
      const group = byKey.get(key);
      if (group === undefined) byKey.set(key, [config]);
      else group.push(config);
    }
  }
  return [...byKey.values()].flatMap((group) => {
    const [only] = group;
    return only !== undefined && group.length === 1
      ? [only]
      : mergedGroup(memo, { group: internList(memo, group.toSorted(byAge)) });
  });
}

const nameOf = ({ config: { meta } }: RouteConfig): string => `${meta.namespace}/${meta.name}`;

/** HTTPRoute → how many parts it has. Istio numbers the parts of a route, and tells routes apart by their names alone. */
const partsOfHttp = (routes: readonly MadeRoute[]): ReadonlyMap<string, number> =>
  new Map(
    routes.flatMap(({ route, parts }) => (route.kind === "HTTPRoute" ? [[nameOf(route), parts.length] as const] : [])),
  );

/** As Istio puts the objects of one host in order: by age, then namespace, then name. */
function byAge(a: Config, b: Config): number {
  const [x, y] = [a.origin.key, b.origin.key];
  return (
    a.meta.creationTimestampMs - b.meta.creationTimestampMs ||
    compare(x.namespace, y.namespace) ||
    compare(x.name, y.name)
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const mergedGroup = query(
  "virtual service of several routes of the Gateway API",
  ({ group }: { readonly group: readonly Config<VirtualService>[] }): readonly Config<VirtualService>[] => {
    const [first, ...others] = group;
    if (first === undefined) return [];
    const keys = new Map<string, ConfigKey>(
      others.map((config) => keyOf(config)).map((key) => [`${key.kind}/${key.namespace}/${key.name}`, key]),
    );
    return [
      {
        ...first,
        meta: {
          ...first.meta,
          annotations: {
            ...first.meta.annotations,
            [parentsAnnotation]: group.map(({ meta }) => meta.annotations[parentsAnnotation]).join(","),
          },
        },
        spec: { ...first.spec, http: inOrderOfPrecedence(group.flatMap(({ spec }) => spec.http ?? [])) },
        alsoMadeFrom: [...keys.values()],
      },
    ];
  },
);
