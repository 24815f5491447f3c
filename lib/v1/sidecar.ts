import { byCodePoint } from "../config/diagnostic.ts";
import type { NodeId } from "../snapshot/legacy/node-id.ts";
import { httpProxyTable } from "../snapshot/legacy/question.ts";
import type { BuiltCluster } from "./clusters.ts";
import { externalTcpListeners } from "./compat/external-routes.ts";
import type { Listener } from "./documents.ts";
import { type HttpListenerOptions, httpListener } from "./http-listener.ts";
import { inboundListeners } from "./inbound-listeners.ts";
import type { LegacyInstance, LegacyWorld } from "./legacy-world.ts";
import type { BuiltHost } from "./outbound-routes.ts";
import { outboundTables } from "./rds.ts";
import { type BuiltListener, egressTcpListeners, managementListeners, outboundTcpListeners } from "./tcp-listeners.ts";

/**
 * Everything that a sidecar (or, for its clusters, a router) listens on, each listener with its clusters.
 * Addresses are unique, the first one wins; sorted by address.
 *
 * @see docs/how-istio-does-it/legacy-v1.md#clusters
 * @see docs/how-istio-does-it/legacy-v1.md#listeners
 */
export function sidecarListeners(
  world: LegacyWorld,
  node: NodeId,
  instances: readonly LegacyInstance[],
): { readonly listeners: readonly Listener[]; readonly clusters: readonly BuiltCluster[] } {
  const captured = node.type === "router" || world.mesh.proxyListenPort > 0;
  const built = [
    ...(captured ? capturedListeners(world, node, instances) : []),
    ...(world.mesh.proxyHttpPort > 0 ? [proxyListener(world, node, instances)] : []),
  ];
  const byAddress = new Map<string, Listener>();
  for (const { listener } of built) {
    if (listener !== undefined && !byAddress.has(listener.address)) byAddress.set(listener.address, listener);
  }
  return {
    listeners: [...byAddress.values()].sort((a, b) => byCodePoint(a.address, b.address)),
    clusters: built.flatMap(({ clusters }) => clusters),
  };
}

/** Listeners for traffic that is redirected to the proxy: none of them binds but the one that takes it all. */
function capturedListeners(
  world: LegacyWorld,
  node: NodeId,
  instances: readonly LegacyInstance[],
): readonly BuiltListener[] {
  if (node.type === "router") {
    return [
      ...outboundTcpListeners(world, node),
      ...externalTcpListeners(world),
      ...outboundHttpListeners(world, node, instances),
    ];
  }
  const services = [
    ...inboundListeners({ world, node, instances }),
    ...outboundTcpListeners(world, node),
    ...egressTcpListeners(world),
    ...externalTcpListeners(world),
    ...outboundHttpListeners(world, node, instances),
  ];
  const taken = new Set(services.map(({ listener }) => listener?.address));
  const management = managementListeners(world, node).filter(({ listener }) => !taken.has(listener?.address));
  return [...services, ...management, { listener: captureListener(world.mesh.proxyListenPort), clusters: [] }];
}

function captureListener(port: number): Listener {
  return {
    address: `tcp://0.0.0.0:${port}`,
    name: "virtual",
    filters: [],
    bind_to_port: true,
    use_original_dst: true,
  };
}

function outboundHttpListeners(
  world: LegacyWorld,
  node: NodeId,
  instances: readonly LegacyInstance[],
): readonly BuiltListener[] {
  const tables = outboundTables({ world, node, instances, v2Names: false });
  return [...tables].map(([port, hosts]) => {
    const routes = hosts.flatMap((host) => host.routes);
    const options: HttpListenerOptions = {
      ...outboundOptions(instances),
      ip: "0.0.0.0",
      port,
      routes: String(port),
      faults: routes.flatMap(({ faults }) => faults),
      bindToPort: false,
    };
    return { listener: httpListener(options, world, node), clusters: clustersOf(hosts) };
  });
}

/** The explicit HTTP proxy of applications that ask for one. */
function proxyListener(world: LegacyWorld, node: NodeId, instances: readonly LegacyInstance[]): BuiltListener {
  const tables = outboundTables({ world, node, instances, v2Names: false });
  const options: HttpListenerOptions = {
    ...outboundOptions(instances),
    ip: "127.0.0.1",
    port: world.mesh.proxyHttpPort,
    routes: httpProxyTable,
    faults: [],
    bindToPort: true,
  };
  return { listener: httpListener(options, world, node), clusters: [...tables.values()].flatMap(clustersOf) };
}

function outboundOptions(
  instances: readonly LegacyInstance[],
): Pick<HttpListenerOptions, "outbound" | "operation" | "useRemoteAddress" | "services" | "policy"> {
  return { outbound: true, operation: "egress", useRemoteAddress: false, services: instances, policy: undefined };
}

export const clustersOf = (hosts: readonly BuiltHost[]): readonly BuiltCluster[] =>
  hosts.flatMap((host) => host.routes.flatMap((route) => route.clusters));
