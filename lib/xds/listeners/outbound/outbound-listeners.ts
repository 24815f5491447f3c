import type { ListenerJson } from "../../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { ConfigKey } from "../../../base/diagnostic.ts";
import type { SidecarPort } from "../../../config/kinds/sidecar.ts";
import { isIpAddress } from "../../../config/values/ip-address.ts";
import { query } from "../../../incremental/query.ts";
import { serviceAddress, unspecifiedAddress } from "../../../mesh/hosts/service-address.ts";
import type { ListenerEgress } from "../../../mesh/views/views.ts";
import { parseProtocol } from "../../../registry/protocol.ts";
import type { Service, ServicePort } from "../../../registry/service.ts";
import type { Resource } from "../../resource.ts";
import { isUnixBind } from "../bind.ts";
import type { ListenerContext, ListenerWalk } from "../listener-context.ts";
import { canBind } from "../reserved-port.ts";
import { type Binding, protocolClass } from "./outbound-entry.ts";
import { outboundListener } from "./outbound-listener.ts";
import { addOutboundService, type OutboundEntries, type OutboundTarget } from "./outbound-service.ts";

/**
 * The outbound listeners of a sidecar, by the services of its scope. Order of services decides conflicts, so that the oldest
 * wins.
 *
 * @param behindAll keys of what stands behind every listener
 * @returns in no particular order
 * @see docs/how-istio-does-it/listeners.md#outbound-walk
 */
export function outboundListeners(
  walk: ListenerWalk,
  behindAll: readonly ConfigKey[],
): readonly Resource<ListenerJson>[] {
  const entries: OutboundEntries = new Map();
  for (const egress of walk.view.scope.egressListeners) addEgressListener(walk, entries, egress);
  return Array.from(entries.values(), (entry) => outboundListener(walk, entry, behindAll));
}

function addEgressListener(walk: ListenerWalk, entries: OutboundEntries, egress: ListenerEgress): void {
  const { context } = walk;
  const binding = egressBinding(context, egress);
  const { virtualServices } = egress;
  const declared = egress.spec?.port;
  if (declared !== undefined) {
    const port = declaredPort(walk.memo, { declared });
    if (!canBind(context, binding, port, "service")) return;
    for (const service of egress.services) {
      addOutboundService(walk, entries, { service, port, binding, virtualServices });
    }
    return;
  }
  for (const entry of entries.values()) entry.locked = true;
  for (const service of egress.services) {
    for (const port of service.ports) {
      if (!canBind(context, binding, port, "service")) continue;
      const target: OutboundTarget = { service, port, binding, virtualServices };
      for (const bound of withEndpointBinds(walk, target)) addOutboundService(walk, entries, bound);
    }
  }
}

/** One object, as the ports of services are: what is made of them is remembered by it. */
const declaredPort = query(
  "port of an egress listener",
  ({ declared: { name = "", number = 0, protocol = "" } }: { readonly declared: SidecarPort }): ServicePort => ({
    name,
    port: number,
    protocol: parseProtocol(protocol),
  }),
);

function egressBinding({ proxy, loopbacks }: ListenerContext, { spec }: ListenerEgress): Binding {
  const bind = spec?.bind ?? "";
  const bindToPort = proxy.interceptionMode === "NONE" || spec?.captureMode === "NONE" || isUnixBind(bind);
  return { bindToPort, binds: bind !== "" ? [bind] : bindToPort ? loopbacks : [] };
}

/**
 * A headless service has no address to listen on: a TCP or sniffed port gets one listener for each endpoint, but not for
 * the proxy's own, whose traffic does not come this way.
 */
function withEndpointBinds({ view }: ListenerWalk, target: OutboundTarget): readonly OutboundTarget[] {
  const { service, port, binding } = target;
  if (!isHeadless(service, port, binding) || serviceAddress(service, view.proxy) !== unspecifiedAddress)
    return [target];
  const endpoints = view.lookups.endpoints(service).filter((endpoint) => endpoint.servicePortName === port.name);
  const { provider, selector } = service.attributes;
  // A plain ServiceEntry without resolution: traffic goes where it was going, whatever that is.
  if (provider !== "Kubernetes" && endpoints.length === 0 && selector === undefined) return [target];
  return endpoints
    .filter(({ addresses }) => addresses.every(isIpAddress) && addresses[0] !== view.ownAddresses[0])
    .map(({ addresses }) => ({ ...target, binding: { ...binding, binds: addresses } }));
}

function isHeadless(service: Service, port: ServicePort, binding: Binding): boolean {
  const kind = protocolClass(port.protocol);
  return binding.binds.length === 0 && service.resolution === "Passthrough" && (kind === "TCP" || kind === "auto");
}
