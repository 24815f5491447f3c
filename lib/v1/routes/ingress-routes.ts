import { byCodePoint } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import type { IngressRule } from "../../config/kinds/legacy/ingress-rule.ts";
import type { NodeId } from "../../legacy/node-id.ts";
import { byKey } from "../config-store.ts";
import type { Route } from "../documents.ts";
import { type LegacyMesh, type LegacyPort, type LegacyService, usesMixer } from "../legacy-world.ts";
import { routeMixerConfig } from "../listeners/mixer.ts";
import type { RequestContext } from "../request-context.ts";
import { resolveHost } from "../resolve-host.ts";
import { nothingRuns } from "../runs-here.ts";
import { type BuiltHost, destinationRoutes } from "./outbound-routes.ts";
import { isCatchAll, routeMatch } from "./route-match.ts";
import type { BuiltRoute } from "./rule-route.ts";

/** The two tables of an ingress proxy, and whether TLS is served at all. */
export interface IngressTables {
  /** Hosts of port 80, and of port 443. */
  readonly plain: readonly BuiltHost[];
  readonly tls: readonly BuiltHost[];
  readonly hasTls: boolean;
}

/**
 * The routes of all ingress rules; a rule that cannot be served is left out.
 * @see docs/how-istio-does-it/legacy-v1.md#ingress
 */
export function ingressTables(world: LegacyMesh, node: NodeId, v2Names = false): IngressTables {
  // No source condition holds for what comes from outside.
  const requestContext: RequestContext = { world, node, here: nothingRuns, v2Names };
  const plain = new Map<string, BuiltRoute[]>();
  const tls = new Map<string, BuiltRoute[]>();
  let hasTls = false;
  for (const rule of [...world.configs.ingressRules].sort(byKey)) {
    const routes = ingressRoutes(rule, requestContext);
    const host = hostOf(rule.spec);
    if (routes === undefined || host === undefined) continue;
    const secured = rule.spec.tlsSecret !== undefined && rule.spec.tlsSecret !== "";
    hasTls ||= secured;
    const hosts = secured ? tls : plain;
    const present = hosts.get(host);
    if (present === undefined) hosts.set(host, [...routes]);
    else present.push(...routes);
  }
  return { plain: hostsOf(plain, 80), tls: hostsOf(tls, 443), hasTls };
}

function hostsOf(hosts: ReadonlyMap<string, readonly BuiltRoute[]>, port: number): readonly BuiltHost[] {
  return [...hosts]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([host, routes]) => ({
      name: host,
      domains: host === "*" ? [host] : [host, `${host}:${port}`],
      routes: [...routes].sort((a, b) => byPath(a.route, b.route)),
    }));
}

/** Exact paths first, ascending; then prefixes, descending, so that the longer of two nested ones wins. */
export function byPath(a: Pick<Route, "path" | "prefix">, b: Pick<Route, "path" | "prefix">): number {
  if (a.path !== undefined || b.path !== undefined) {
    if (a.path === undefined) return 1;
    return b.path === undefined ? -1 : byCodePoint(a.path, b.path);
  }
  return byCodePoint(b.prefix ?? "", a.prefix ?? "");
}

/** `*` without a condition on the authority; undefined for one that is not exact. */
function hostOf(rule: IngressRule): string | undefined {
  const authority = rule.match?.request?.headers?.authority;
  return authority === undefined ? "*" : authority.exact;
}

/** The service's own routes, narrowed to the rule's path; undefined for a rule that cannot be served. */
function ingressRoutes(
  { meta, spec }: Config<IngressRule>,
  requestContext: RequestContext,
): readonly BuiltRoute[] | undefined {
  const { world } = requestContext;
  const hostname = resolveHost(meta, spec.destination);
  const service = world.services.find((candidate) => candidate.hostname === hostname);
  const port = service && portOf(service, spec);
  if (service === undefined || port === undefined || !speaksHttp(port)) return undefined;
  const match = routeMatch(spec.match);
  if ((match.headers ?? []).some((header, index) => index > 0 || header.name !== ":authority")) return undefined;
  const routes = destinationRoutes(service, port, requestContext);
  const opaque = usesMixer(world.mesh) ? { opaque_config: routeMixerConfig(world.mesh, hostname, true) } : {};
  return routes.flatMap((built): BuiltRoute[] => {
    // With several routes the one for everything else stays inside the mesh.
    if (routes.length > 1 && isCatchAll(built.route)) return [];
    const path = combinedPath(built.route, match);
    if (path === undefined) return [];
    const { path: _path, prefix: _prefix, ...route } = built.route;
    return [{ ...built, route: { ...path, ...route, ...opaque } }];
  });
}

function portOf(service: LegacyService, rule: IngressRule): LegacyPort | undefined {
  return rule.destinationPortName === undefined
    ? service.ports.find((port) => port.port === rule.destinationPort)
    : service.ports.find((port) => port.name === rule.destinationPortName);
}

const speaksHttp = ({ protocol }: LegacyPort): boolean =>
  protocol === "HTTP" || protocol === "HTTP2" || protocol === "GRPC";

/** The part of a route's path that an ingress path lets through: the narrower of the two, or undefined for none. */
export function combinedPath(
  route: Pick<Route, "path" | "prefix">,
  ingress: Pick<Route, "path" | "prefix">,
): Pick<Route, "path" | "prefix"> | undefined {
  if (route.path !== undefined) {
    const through =
      ingress.path === undefined ? route.path.startsWith(ingress.prefix ?? "") : route.path === ingress.path;
    return through ? { path: route.path } : undefined;
  }
  const prefix = route.prefix ?? "";
  if (ingress.path !== undefined) return ingress.path.startsWith(prefix) ? { path: ingress.path } : undefined;
  const narrower = ingress.prefix ?? "";
  if (prefix.startsWith(narrower)) return { prefix };
  return narrower.startsWith(prefix) ? { prefix: narrower } : undefined;
}
