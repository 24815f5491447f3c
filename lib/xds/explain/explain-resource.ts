import type { RouteJson, VirtualHostJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import { listIn, memberOf } from "../../base/untyped.ts";
import { fullHostName, hostsOverlap } from "../../config/values/host-name.ts";
import { isOfKind } from "../../mesh/index/configs-by-kind.ts";
import { allowAnyHost, blackHoleHost, blockAllHost, dynamicDnsHost, parseClusterName } from "../names.ts";
import type { ResourceType } from "../resource.ts";
import { reasonOf } from "./resource-reason.ts";
import type { FieldPath, RootObject, RootObjects } from "./root-object.ts";
import { madeBy, rulesOfRoutes } from "./route-rules.ts";

/** An object behind something, with the field of it that counts there. */
export interface Cause {
  /** As `keyText` writes it. */
  readonly object: string;
  /** Where that field stands, `reviews.yaml:12`; absent where the source's text is kept no more. */
  readonly at?: string;
  /** From the object; empty for the object as a whole. */
  readonly path: FieldPath;
}

/** Why a resource is there, and what made it. */
export interface Explanation {
  readonly type: ResourceType;
  readonly name: string;
  readonly version: string;
  /** By which rule of the generators it is there, in words. */
  readonly reason: string;
  readonly causes: readonly Cause[];
  /** Of a route table; empty for others. */
  readonly virtualHosts: readonly ExplainedHost[];
}

export interface ExplainedHost {
  readonly name: string;
  readonly domains: readonly string[];
  readonly reason: string;
  readonly causes: readonly Cause[];
  readonly routes: readonly ExplainedRoute[];
}

export interface ExplainedRoute {
  /** From 0, in the order in which Envoy tries them. */
  readonly index: number;
  readonly name: string;
  /** What it takes: `prefix /reviews`. */
  readonly takes: string;
  /** Where it leads: clusters, `redirect`, `response 404`. */
  readonly leadsTo: readonly string[];
  readonly reason: string;
  readonly cause?: Cause;
}

/** A resource as it is stored. */
export interface StoredResource {
  readonly type: ResourceType;
  readonly name: string;
  readonly version: string;
  readonly from: readonly string[];
  /** Its JSON. */
  readonly text: string;
}

/**
 * Says what made a resource, down to the virtual host and the route, from what is stored alone.
 *
 * @param namespace of the proxy that has it; "" where it is not known
 */
export function explainResource(resource: StoredResource, objects: RootObjects, namespace: string): Explanation {
  const { type, name, version, from } = resource;
  const subset = parseClusterName(name)?.subset ?? "";
  const causes = from.map((key) => causeOf(key, objects, (object) => fieldOfCluster(object, name, subset)));
  const patches = from.filter((key) => key.startsWith("EnvoyFilter/"));
  const virtualHosts = type === "routes" ? hostsOf(resource, { objects, namespace, patches }) : [];
  return { type, name, version, reason: reasonOf(type, name, from), causes, virtualHosts };
}

function causeOf(key: string, objects: RootObjects, fieldOf: (object: RootObject) => FieldPath): Cause {
  const object = objects.get(key);
  if (object === undefined) return { object: key, path: [] };
  const path = fieldOf(object);
  return { object: key, at: objects.placeOf(object, path), path };
}

/** The subset of a rule that a cluster is, and the port of a service. */
function fieldOfCluster(object: RootObject, name: string, subset: string): FieldPath {
  const { config } = object;
  if (config !== undefined && isOfKind(config, "DestinationRule")) {
    const at = subset === "" ? -1 : (config.spec.subsets ?? []).findIndex((one) => one.name === subset);
    return at === -1 ? [] : ["spec", "subsets", at];
  }
  const port = parseClusterName(name)?.port;
  const ports = listIn(object.spec, "ports");
  const at = ports.findIndex((one) => numberIn(one, "port") === port || numberIn(one, "number") === port);
  return port === undefined || at === -1 ? [] : ["spec", "ports", at];
}

/** What a virtual host is explained by. */
interface TableContext {
  readonly objects: RootObjects;
  readonly namespace: string;
  /** The EnvoyFilters that the table was made from. */
  readonly patches: readonly string[];
}

function hostsOf({ text, from }: StoredResource, context: TableContext): readonly ExplainedHost[] {
  const { virtualHosts = [] }: RouteConfigurationJson = JSON.parse(text);
  const objects = { ...context.objects, all: from.flatMap((key) => context.objects.get(key) ?? []) };
  return virtualHosts.map((host) => explainHost(host, { ...context, objects }));
}

function explainHost(host: VirtualHostJson, { objects, namespace, patches }: TableContext): ExplainedHost {
  const { name = "", domains = [], routes = [] } = host;
  const rules = rulesOfRoutes(routes, objects, namespace);
  const hostname = name.replace(/:\d+$/, "");
  const causes = new Map<string, Cause>();
  for (const object of objects.all) {
    const path = fieldForHost(object, hostname, domains);
    if (path !== undefined)
      causes.set(
        object.key,
        causeOf(object.key, objects, () => path),
      );
  }
  for (const rule of rules) {
    if (rule !== undefined && !causes.has(rule.object.key))
      causes.set(
        rule.object.key,
        causeOf(rule.object.key, objects, () => []),
      );
  }
  return {
    name,
    domains,
    reason: reasonOfHost(name, routes),
    causes: [...causes.values()],
    routes: routes.map((route, index): ExplainedRoute => {
      const rule = rules[index];
      const cause = rule && causeOf(rule.object.key, objects, () => rule.path);
      return {
        index,
        name: route.name ?? "",
        takes: takenBy(route),
        leadsTo: destinationsOf(route),
        reason: reasonOfRoute(route, rule !== undefined, patches),
        ...(cause === undefined ? {} : { cause }),
      };
    }),
  };
}

/** What an object has to do with a virtual host; undefined for nothing. */
function fieldForHost(object: RootObject, hostname: string, domains: readonly string[]): FieldPath | undefined {
  const { config, kind, namespace, name, spec } = object;
  if (kind === "Service" && config === undefined)
    return hostname.startsWith(`${name}.${namespace}.svc.`) ? [] : undefined;
  if (config === undefined) return undefined;
  if (isOfKind(config, "ServiceEntry")) {
    const at = config.spec.hosts.findIndex((host) => host.toLowerCase() === hostname);
    return at === -1 ? undefined : ["spec", "hosts", at];
  }
  if (isOfKind(config, "DestinationRule")) {
    const host = fullHostName(config.spec.host, namespace, config.meta.domain).toLowerCase();
    return hostsOverlap(host, hostname) && host !== "*" ? ["spec", "host"] : undefined;
  }
  if (kind === "Ingress") {
    const at = listIn(spec, "rules").findIndex((rule) => domains.includes(String(memberOf(rule, "host") ?? "*")));
    return at === -1 ? undefined : ["spec", "rules", at];
  }
  if (kind !== "Gateway") return undefined;
  const at = listIn(spec, "servers").findIndex((server) =>
    listIn(server, "hosts").some((host) => {
      const wanted = String(host)
        .replace(/^[^/]*\//, "")
        .toLowerCase();
      return domains.some((domain) => domain === "*" || hostsOverlap(wanted, domain));
    }),
  );
  return at === -1 ? undefined : ["spec", "servers", at];
}

function reasonOfHost(name: string, routes: readonly RouteJson[]): string {
  if (name === allowAnyHost) return "no other host is named: the outbound traffic policy lets any through";
  if (name === dynamicDnsHost) return "no other host is named: the outbound traffic policy has its name resolved";
  if (name === blockAllHost) return "no other host is named: the outbound traffic policy lets none through";
  if (name.startsWith(blackHoleHost)) return "no VirtualService is bound to this server: every request gets 404";
  if (routes.some((route) => madeBy(route) !== undefined)) return "a route is bound to this host";
  if (name.startsWith("inbound|")) return "a port of the workload";
  return "no VirtualService applies to this service";
}

function reasonOfRoute(route: RouteJson, isFound: boolean, patches: readonly string[]): string {
  if (isFound) return "rule";
  const path = madeBy(route);
  if (path === undefined)
    return patches.length === 0 || route.name === "default"
      ? "default route"
      : "default route, or added by an EnvoyFilter";
  const patched = patches.length === 0 ? "" : "; an EnvoyFilter may have changed it";
  return `from ${path}, but equal to none of its rules${patched}`;
}

function takenBy({ match = {} }: RouteJson): string {
  const { prefix, path, safeRegex, pathSeparatedPrefix, headers = [], queryParameters = [] } = match;
  const paths = [
    prefix === undefined ? [] : [`prefix ${prefix}`],
    path === undefined ? [] : [`path ${path}`],
    safeRegex?.regex === undefined ? [] : [`regex ${safeRegex.regex}`],
    pathSeparatedPrefix === undefined ? [] : [`path below ${pathSeparatedPrefix}`],
  ].flat();
  const names = [...headers, ...queryParameters].map(({ name = "" }) => name);
  return [...paths, ...(names.length === 0 ? [] : [`with ${names.join(", ")}`])].join(" ") || "everything";
}

function destinationsOf({ route, redirect, directResponse }: RouteJson): readonly string[] {
  if (redirect !== undefined) return ["redirect"];
  if (directResponse !== undefined) return [`response ${directResponse.status ?? ""}`.trim()];
  const weighted = route?.weightedClusters?.clusters ?? [];
  if (weighted.length > 0) return weighted.map(({ name = "", weight }) => `${name} (${weight ?? 0})`);
  const to = route?.cluster ?? route?.clusterHeader;
  return to === undefined ? [] : [to];
}

function numberIn(value: unknown, member: string): number | undefined {
  const found = memberOf(value, member);
  return typeof found === "number" ? found : undefined;
}
