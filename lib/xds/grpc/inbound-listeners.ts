import type { FilterChainJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { serviceAddresses } from "../../mesh/hosts/service-address.ts";
import type { GrpcListenerView } from "../../mesh/views/grpc-views.ts";
import type { ServiceTarget } from "../../registry/service.ts";
import { additionalAddresses, envoyAddress } from "../listeners/bind.ts";
import {
  grpcInboundChain,
  grpcInboundManager,
  grpcInboundTable,
  parseServerListenerName,
  serverListenerName,
} from "../names.ts";
import { originKeys } from "../provenance.ts";
import type { Resource } from "../resource.ts";
import { downstreamTls } from "./certificate-provider.ts";
import { connectionManager, routerFilter } from "./connection-manager.ts";

/** The names of the listeners that a server may ask for: for each port that it serves, at each address. */
export function inboundNames({ inbound, ownAddresses }: GrpcListenerView): readonly string[] {
  const ports = new Set(inbound.targets.map(({ targetPort }) => targetPort));
  const addresses = new Set(["0.0.0.0", "::", ...ownAddresses]);
  return [...ports].flatMap((port) => [...addresses].map((address) => serverListenerName(address, port)));
}

/**
 * The listeners by which servers learn whom to let in, at whichever address they listen. A name that is none, or of a port that no service of
 * the workload leads to, has none.
 *
 * @param filters what stands in front of the router
 * @see istio 1.30.3 pilot/pkg/networking/grpcgen/lds.go, buildInboundListeners
 */
export function inboundListeners(
  view: GrpcListenerView,
  names: readonly string[],
  filters: readonly HttpFilterJson[],
): readonly Resource<ListenerJson>[] {
  const targets = new Map(view.inbound.targets.map((target) => [target.targetPort, target]));
  return names.flatMap((name) => {
    const parts = parseServerListenerName(name);
    const target = parts && targets.get(parts.port);
    if (parts === undefined || target === undefined) return [];
    return [inboundListener(view, name, parts.address, target, filters)];
  });
}

function inboundListener(
  { proxy, inbound, takesMutualTls }: GrpcListenerView,
  name: string,
  address: string,
  { service, targetPort }: ServiceTarget,
  filters: readonly HttpFilterJson[],
): Resource<ListenerJson> {
  const mode = inbound.mtlsMode(targetPort);
  // A program cannot tell TLS from plain text on one port: those that say that they take TLS are called by it.
  const isMutual = mode === "STRICT" || (mode === "PERMISSIVE" && takesMutualTls);
  const json: ListenerJson = {
    name,
    address: envoyAddress(address, targetPort),
    ...additionalAddresses(serviceAddresses(service, proxy).slice(1), targetPort),
    filterChains: [isMutual ? mutualChain(filters) : inboundChain("plaintext", filters)],
  };
  return { name, json, from: originKeys(service) };
}

const mutualChain = (filters: readonly HttpFilterJson[]): FilterChainJson => ({
  ...inboundChain("mtls", filters),
  transportSocket: downstreamTls(),
});

function inboundChain(kind: "mtls" | "plaintext", filters: readonly HttpFilterJson[]): FilterChainJson {
  const own = { match: { prefix: "/" }, nonForwardingAction: {} };
  const manager = connectionManager({
    routeConfig: { name: grpcInboundTable, virtualHosts: [{ domains: ["*"], routes: [own] }] },
    httpFilters: [...filters, routerFilter],
  });
  return { name: grpcInboundChain(kind), filters: [{ name: grpcInboundManager(kind), typedConfig: manager }] };
}
