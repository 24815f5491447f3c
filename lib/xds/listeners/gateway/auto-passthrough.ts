import type { Origin } from "../../../config/diagnostic.ts";
import { isSubsetHost, isWildcard } from "../../../config/host-name.ts";
import type { Service, ServicePort } from "../../../registry/service.ts";
import { sniDnatClusterName, statName } from "../../names.ts";
import { matchAll } from "../filter-chain-match.ts";
import { istioAlpns } from "../filters/alpn.ts";
import { noSecurity, tcpChainFilters } from "../filters/network-filters.ts";
import { tcpProxyFilters } from "../filters/tcp-proxy.ts";
import type { ListenerContext } from "../listener-context.ts";
import { servicePieces } from "../outbound/tcp-destination.ts";
import type { GatewayChain } from "./gateway-chain.ts";

/**
 * Chains that lead mesh mTLS on by its server name, one for each port and subset of the services that the hosts cover.
 * Only mesh ALPNs are taken, and no policy is asked: the other end has the keys, and decides. Services of a wildcard have
 * none: a `*` inside of a server name matches nothing, and Envoy refuses the listener, which Istio leaves to it.
 *
 * @see docs/how-istio-does-it/listeners.md#auto_passthrough
 */
export function autoPassthroughChains(
  context: ListenerContext,
  hosts: readonly string[],
  origin: Origin,
): readonly GatewayChain[] {
  return context.view.scope.services
    .filter(({ meshExternal, hostname }) => !meshExternal && !isWildcard(hostname))
    .filter(({ hostname }) => hosts.some((host) => isSubsetHost(hostname, host)))
    .flatMap((service) =>
      service.ports
        .filter((port) => port.protocol !== "UDP")
        .flatMap((port) =>
          subsetNames(context, service).map((subset) => chain(context, service, port, subset, origin)),
        ),
    );
}

function subsetNames({ view }: ListenerContext, service: Service): readonly string[] {
  const subsets = view.destinationRule(service)?.config.spec.subsets ?? [];
  return ["", ...subsets.map((subset) => subset.name)];
}

function chain(
  context: ListenerContext,
  service: Service,
  port: ServicePort,
  subset: string,
  origin: Origin,
): GatewayChain {
  return context.stable([origin, ...servicePieces(context, service)], `auto passthrough|${port.port}|${subset}`, () =>
    passthroughChain(context, { service, port, subset, origin }),
  );
}

function passthroughChain(
  context: ListenerContext,
  target: { readonly service: Service; readonly port: ServicePort; readonly subset: string; readonly origin: Origin },
): GatewayChain {
  const { service, port, subset, origin } = target;
  const { view } = context;
  const cluster = sniDnatClusterName(port.port, subset, service.hostname);
  const pattern = view.lookups.mesh.outboundClusterStatName;
  const names = { hostname: service.hostname, subset, port: port.port, portName: port.name, targetPort: 0, service };
  const terminal = tcpProxyFilters(context, "gateway", {
    statPrefix: pattern === "" ? cluster : statName(pattern, names),
    destination: { kind: "cluster", cluster },
    protocol: port.protocol,
    policy: { rule: view.destinationRule(service)?.config.spec, subset, tunnels: false },
  });
  return {
    match: { ...matchAll, sniHosts: [cluster], applicationProtocols: istioAlpns },
    origin,
    tls: undefined,
    filters: tcpChainFilters(context, { class: "gateway", port: port.port }, terminal, noSecurity),
  };
}
