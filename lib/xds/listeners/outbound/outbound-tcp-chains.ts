import type { L4MatchAttributes, TLSRoute } from "../../../config/kinds/virtual-service.ts";
import { hostsOverlap } from "../../../config/values/host-name.ts";
import { trackedQuery } from "../../../incremental/tracked-query.ts";
import type { MeshDestinationRule } from "../../../mesh/index/destination-rule-index.ts";
import type { MeshVirtualService } from "../../../mesh/index/virtual-service-index.ts";
import { isDynamicWildcard, type Service } from "../../../registry/service.ts";
import { alternateHosts } from "../../routes/service-domains.ts";
import { matchAll } from "../filter-chain-match.ts";
import { listenAddresses } from "../listen-address.ts";
import type { ListenerContext, ListenerWalk } from "../listener-context.ts";
import { sidecarMatches } from "../route-match.ts";
import { defaultTcpFilters } from "./default-tcp-chain.ts";
import type { OutboundChain } from "./outbound-entry.ts";
import { type ChainPort, type Destinations, destinationsOf, routeFilters } from "./tcp-destination.ts";

/** The service, and how its listener is bound. */
export interface TcpListenerTarget {
  readonly service: Service;
  readonly port: ChainPort;
  /** Address of the listener. */
  readonly bind: string;
  /** Ranges that the service's address names; empty for a plain one. */
  readonly cidrs: readonly string[];
}

/**
 * TCP chains of a service's port on a sidecar: those that `tls` or `tcp` routes of virtual services claim, then the way
 * straight to the service, unless a route takes everything.
 *
 * @param virtualServices those of the egress listener, with any `tcp` or `tls` route
 * @see docs/how-istio-does-it/listeners.md#tcp-and-tls-chains
 */
export function outboundTcpChains(
  { view, context, memo }: ListenerWalk,
  { service, port, bind, cidrs }: TcpListenerTarget,
  virtualServices: readonly MeshVirtualService[],
): readonly OutboundChain[] {
  const own = virtualServices.filter(({ hosts }) => hosts.some((host) => hostsOverlap(host, service.hostname)));
  const rule = view.destinationRule(service);
  const inputs = { context, service, rule, port, virtualServices: own, bind, cidrs };
  return chainsOfPort(memo, inputs, destinationsOf(view)).value;
}

interface Inputs extends TcpListenerTarget {
  readonly context: ListenerContext;
  readonly rule: MeshDestinationRule | undefined;
  /** Those with a host of the service. */
  readonly virtualServices: readonly MeshVirtualService[];
}

const chainsOfPort = trackedQuery(
  "outbound TCP chains",
  { virtualServices: "elements", cidrs: "value" },
  (inputs: Inputs, destinations: Destinations) =>
    isTls(inputs.port) ? tlsChains(inputs, destinations) : tcpChains(inputs, destinations),
);

function isTls({ protocol }: ChainPort): boolean {
  return protocol === "TLS" || protocol === "HTTPS";
}

function tlsChains(inputs: Inputs, destinations: Destinations): readonly OutboundChain[] {
  const { context, service, rule, port, virtualServices } = inputs;
  const chain = { context, chainTarget: placeOf(port), port, destinations };
  const chains: OutboundChain[] = [];
  const handled = new Set<string>();
  // Subnets of one match stay in force for the matches after it: Istio's quirk, and part of its answers.
  let { cidrs } = inputs;
  for (const { virtualService, route, match } of tlsMatches(virtualServices)) {
    if (!sidecarMatches(match, context, port.port)) continue;
    const subnets = match.destinationSubnets ?? [];
    // Port 0 is a unix socket, where addresses mean nothing.
    if (subnets.length > 0 && port.port > 0) cidrs = subnets;
    const runtimeMatch = `${(match.sniHosts ?? []).join(",")}|${subnets.join(",")}`;
    if (handled.has(runtimeMatch)) continue;
    const filters = routeFilters(chain, route.route ?? [], virtualService);
    if (filters === undefined) continue;
    handled.add(runtimeMatch);
    chains.push({
      match: { ...matchAll, sniHosts: match.sniHosts ?? [], destinationCidrs: cidrs },
      filters,
      virtualService: virtualService.config,
    });
  }
  if (chains.length > 0) return chains;
  const sniHosts = needsServerName(inputs) ? serverNames(context, service) : [];
  const filters = defaultTcpFilters(context, service, rule, port);
  return [{ match: { ...matchAll, sniHosts, destinationCidrs: cidrs }, filters }];
}

function tlsMatches(virtualServices: readonly MeshVirtualService[]): readonly {
  readonly virtualService: MeshVirtualService;
  readonly route: TLSRoute;
  readonly match: NonNullable<TLSRoute["match"]>[number];
}[] {
  return virtualServices.flatMap((virtualService) =>
    (virtualService.config.spec.tls ?? []).flatMap((route) =>
      (route.match ?? []).map((match) => ({ virtualService, route, match })),
    ),
  );
}

/** Only where several services may share the listener does the server name have to tell them apart. */
function needsServerName({ context, service, bind, cidrs }: Inputs): boolean {
  const { proxy, wildcards } = context;
  if (cidrs.length > 0 || isDynamicWildcard(service)) return true;
  const address = listenAddresses(service, proxy)[0] ?? "";
  return address === "" || address.includes("/") || (address === wildcards[0] && bind === wildcards[0]);
}

function serverNames({ proxy }: ListenerContext, service: Service): readonly string[] {
  const aliases = service.attributes.aliases.flatMap(({ hostname }) => [
    hostname,
    ...alternateHosts(hostname, proxy.dnsDomain),
  ]);
  return [service.hostname, ...aliases];
}

function tcpChains(inputs: Inputs, destinations: Destinations): readonly OutboundChain[] {
  const { context, service, rule, port, cidrs, virtualServices } = inputs;
  const chain = { context, chainTarget: placeOf(port), port, destinations };
  const chains: OutboundChain[] = [];
  let serviceRangeTaken = false;
  for (const { virtualService, route } of tcpRoutes(virtualServices)) {
    const filters = routeFilters(chain, route.route ?? [], virtualService);
    if (filters === undefined) continue;
    const matches = (route.match ?? []).filter((match) => sidecarMatches(match, context, port.port));
    // Port 0 is a unix socket, where addresses mean nothing.
    const everything = ({ destinationSubnets = [] }: L4MatchAttributes) =>
      destinationSubnets.length === 0 || port.port === 0;
    const terminal = (route.match ?? []).length === 0 || matches.some(everything);
    if (terminal) {
      return [
        ...chains,
        { match: { ...matchAll, destinationCidrs: cidrs }, filters, virtualService: virtualService.config },
      ];
    }
    const subnets = matches.flatMap((match) => match.destinationSubnets ?? []);
    if (subnets.length === 0) continue;
    chains.push({ match: { ...matchAll, destinationCidrs: subnets }, filters });
    serviceRangeTaken ||= sameTexts(subnets, cidrs);
  }
  if (serviceRangeTaken) return chains;
  return [
    ...chains,
    { match: { ...matchAll, destinationCidrs: cidrs }, filters: defaultTcpFilters(context, service, rule, port) },
  ];
}

function tcpRoutes(virtualServices: readonly MeshVirtualService[]) {
  return virtualServices.flatMap((virtualService) =>
    (virtualService.config.spec.tcp ?? []).map((route) => ({ virtualService, route })),
  );
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.toSorted().join(" ") === b.toSorted().join(" ");
}

const placeOf = ({ port }: ChainPort) => ({ class: "outbound", port }) as const;
