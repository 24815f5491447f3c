import { byCodePoint } from "../base/diagnostic.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import { trackedQuery } from "../incremental/tracked-query.ts";
import type { NodeId } from "../legacy/node-id.ts";
import { serviceKey } from "../legacy/service-key.ts";
import type { LegacyPort, LegacyService } from "./legacy-world.ts";
import type { RequestContext } from "./request-context.ts";
import {
  type BuiltHost,
  destinationRoutes,
  type RouteTables,
  serviceDomains,
  sharedLabels,
} from "./routes/outbound-routes.ts";
import type { BuiltRoute } from "./routes/rule-route.ts";
import type { RunsHere } from "./runs-here.ts";

/**
 * The virtual hosts of every HTTP port of every service, as a proxy in a DNS domain sees them. Those outside the domain are the objects
 * that the tables of its parent domain have.
 * @see docs/how-istio-does-it/legacy-v1.md#routes
 */
export function serviceTables({ here, ...requestContext }: RequestContext, memo: Memo): RouteTables {
  const { domain } = requestContext.node;
  const { value: routed } = routedPorts(memo, { ...requestContext, node: routingNode(requestContext) }, here);
  const parent = tablesIn(memo, { routed, domain: parentDomain(domain) });
  const within = placesByDomain(memo, { routed }).get(domain);
  const tables = [...routed].map(([port, list]) => {
    const hosts = [...(parent.get(port) ?? [])];
    for (const at of within?.get(port) ?? []) {
      const one = list[at];
      if (one !== undefined) hosts[at] = hostIn(memo, one, domain);
    }
    return [port, hosts] as const;
  });
  return new Map(tables);
}

/** By domain and port, the places of services in it. A service is in all domains that its host name ends with. */
const placesByDomain = query(
  "services by domain of the v1 API",
  ({ routed }: { readonly routed: RoutedTables }): ReadonlyMap<string, ReadonlyMap<number, readonly number[]>> => {
    const byDomain = new Map<string, Map<number, number[]>>();
    for (const [port, list] of routed) {
      for (const [at, { service }] of list.entries()) {
        const labels = service.hostname.split(".");
        for (const from of labels.keys()) {
          const domain = labels.slice(from).join(".");
          const byPort = byDomain.get(domain) ?? new Map<number, number[]>();
          byDomain.set(domain, byPort);
          const indexes = byPort.get(port);
          if (indexes === undefined) byPort.set(port, [at]);
          else indexes.push(at);
        }
      }
    }
    return byDomain;
  },
);

/** What follows the first label. */
export const parentDomain = (domain: string): string => domain.slice(domain.indexOf(".") + 1);

const tablesIn = query(
  "tables of a domain of the v1 API",
  ({ routed, domain }: { readonly routed: RoutedTables; readonly domain: string }, memo: Memo): RouteTables =>
    new Map([...routed].map(([port, list]) => [port, list.map((one) => hostIn(memo, one, domain))])),
);

const hostIn = (memo: Memo, routed: RoutedPort, domain: string): BuiltHost =>
  serviceHost(memo, { routed, shared: sharedLabels(routed.service.hostname, domain) });

/** The node as routes and clusters read it: its domain was looked at for VirtualServices only. */
export const routingNode = ({ world, node }: Pick<RequestContext, "world" | "node">): NodeId =>
  world.v1alpha3 === undefined ? { ...node, domain: "" } : node;

/** A port of a service that carries HTTP. */
interface RoutedPort {
  readonly service: LegacyService;
  readonly port: LegacyPort;
  readonly routes: readonly BuiltRoute[];
}

/** Routed ports by number, each list in the order of the hosts' names. */
type RoutedTables = ReadonlyMap<number, readonly RoutedPort[]>;

/** The same for the proxies of all namespaces. */
const routedPorts = trackedQuery(
  "routes to services of the v1 API",
  { node: "value" },
  (requestContext: Omit<RequestContext, "here">, here: RunsHere, memo: Memo): RoutedTables => {
    const all = requestContext.world.services.flatMap((service) =>
      service.ports.flatMap((port) => {
        const routes = destinationRoutes(service, port, { ...requestContext, here }, undefined, memo);
        const name = serviceKey(service.hostname, [port.name]);
        return routes.length === 0 ? [] : [{ name, routed: routedPort(memo, { service, port, routes }) }];
      }),
    );
    const sorted = all.sort((a, b) => byCodePoint(a.name, b.name)).map(({ routed }) => routed);
    return new Map([...Map.groupBy(sorted, ({ port }) => port.port)].sort(([a], [b]) => a - b));
  },
);

const routedPort = query(
  "routes to a port of a service of the v1 API",
  { routes: "elements" },
  (routed: RoutedPort): RoutedPort => routed,
);

interface Served {
  readonly routed: RoutedPort;
  /** Labels at the end of the host that the proxy's domain has too. */
  readonly shared: number;
}

/** The same for all domains that share as much with the host: those of all namespaces but the service's own. */
const serviceHost = query(
  "virtual host of a service of the v1 API",
  ({ routed: { service, port, routes }, shared }: Served): BuiltHost => ({
    name: serviceKey(service.hostname, [port.name]),
    domains: serviceDomains(service, port.port, shared),
    routes,
  }),
);
