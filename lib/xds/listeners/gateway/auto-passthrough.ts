import type { Origin } from "../../../base/diagnostic.ts";
import { isSubsetHost, isWildcard } from "../../../config/values/host-name.ts";
import { query } from "../../../incremental/query.ts";
import type { MeshDestinationRule } from "../../../mesh/index/destination-rule-index.ts";
import type { Service, ServicePort } from "../../../registry/service.ts";
import { sniDnatClusterName, statName } from "../../names.ts";
import { matchAll } from "../filter-chain-match.ts";
import { istioAlpns } from "../filters/alpn.ts";
import { noSecurity, tcpChainFilters } from "../filters/network-filters.ts";
import { tcpProxyFilters } from "../filters/tcp-proxy.ts";
import type { ListenerContext, ListenerWalk } from "../listener-context.ts";
import type { GatewayChain } from "./gateway-chain.ts";

/**
 * Chains that lead mesh mTLS on by its server name, one for each port and subset of the services that the hosts cover.
 * Only mesh ALPNs are taken, and no policy is asked: the other end has the keys, and decides. Services of a wildcard have
 * none: a `*` inside of a server name matches nothing, and Envoy refuses the listener, which Istio leaves to it.
 *
 * @see docs/how-istio-does-it/listeners.md#auto_passthrough
 */
export function autoPassthroughChains(
  { view, context, memo }: ListenerWalk,
  hosts: readonly string[],
  origin: Origin,
): readonly GatewayChain[] {
  return view.scope.services
    .filter(({ meshExternal, hostname }) => !meshExternal && !isWildcard(hostname))
    .filter(({ hostname }) => hosts.some((host) => isSubsetHost(hostname, host)))
    .flatMap((service) => {
      const rule = view.destinationRule(service);
      return service.ports
        .filter((port) => port.protocol !== "UDP")
        .flatMap((port) =>
          subsetNames(rule).map((subset) =>
            autoPassthroughChain(memo, { context, origin, service, rule, port, subset }),
          ),
        );
    });
}

function subsetNames(rule: MeshDestinationRule | undefined): readonly string[] {
  return ["", ...(rule?.config.spec.subsets ?? []).map((subset) => subset.name)];
}

interface Inputs {
  readonly context: ListenerContext;
  readonly origin: Origin;
  readonly service: Service;
  readonly rule: MeshDestinationRule | undefined;
  readonly port: ServicePort;
  readonly subset: string;
}

const autoPassthroughChain = query("auto-passthrough chain", passthroughChain);

function passthroughChain({ context, origin, service, rule, port, subset }: Inputs): GatewayChain {
  const cluster = sniDnatClusterName(port.port, subset, service.hostname);
  const pattern = context.mesh.outboundClusterStatName;
  const names = { hostname: service.hostname, subset, port: port.port, portName: port.name, targetPort: 0, service };
  const terminal = tcpProxyFilters(context, "gateway", {
    statPrefix: pattern === "" ? cluster : statName(pattern, names),
    destination: { kind: "cluster", cluster },
    protocol: port.protocol,
    policy: { rule: rule?.config.spec, subset, tunnels: false },
  });
  return {
    match: { ...matchAll, sniHosts: [cluster], applicationProtocols: istioAlpns },
    origin,
    tls: undefined,
    filters: tcpChainFilters(context, { class: "gateway", port: port.port }, terminal, { security: noSecurity }),
  };
}
