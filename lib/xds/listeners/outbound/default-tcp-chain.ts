import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { MeshDestinationRule } from "../../../mesh/index/destination-rule-index.ts";
import { isDynamicWildcard, type Service } from "../../../registry/service.ts";
import { outboundClusterName, statName } from "../../names.ts";
import { tcpChainFilters } from "../filters/network-filters.ts";
import { tcpProxyFilters } from "../filters/tcp-proxy.ts";
import type { ListenerContext } from "../listener-context.ts";
import { sniForwardProxy } from "./dynamic-forward-proxy.ts";
import type { ChainPort } from "./tcp-destination.ts";

/**
 * Network filters of a TCP chain that no route claims: straight to the service. The listener's port may be a Sidecar's
 * own; a service with one port is reached on that.
 */
export function defaultTcpFilters(
  context: ListenerContext,
  service: Service,
  rule: MeshDestinationRule | undefined,
  listenerPort: ChainPort,
): FilterJson[] {
  const only = service.ports.length === 1 ? service.ports[0] : undefined;
  const port = only?.port ?? listenerPort.port;
  const cluster = outboundClusterName(port, "", service.hostname);
  const pattern = context.mesh.outboundClusterStatName;
  const statPrefix =
    pattern === ""
      ? cluster
      : statName(pattern, { hostname: service.hostname, subset: "", port, portName: "", targetPort: 0, service });
  const terminal = tcpProxyFilters(context, "outbound", {
    statPrefix,
    destination: { kind: "cluster", cluster },
    protocol: listenerPort.protocol,
    policy: { rule: rule?.config.spec, subset: "", tunnels: true },
  });
  const chainTarget = { class: "outbound", port: listenerPort.port } as const;
  if (!isDynamicWildcard(service)) return tcpChainFilters(context, chainTarget, terminal);
  // Istio looks up policies anew for these services: those of the client workload and of the service stand in its way out.
  const { called, tcp } = context.policies;
  const security = called.get(service.attributes.namespace) ?? tcp;
  return tcpChainFilters(context, chainTarget, [sniForwardProxy(service, listenerPort.port, context), ...terminal], {
    security,
  });
}
