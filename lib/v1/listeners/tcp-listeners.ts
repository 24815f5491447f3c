import { byCodePoint } from "../../base/diagnostic.ts";
import type { NodeId } from "../../legacy/node-id.ts";
import type { Protocol } from "../../registry/service.ts";
import {
  type BuiltCluster,
  egressCluster,
  headlessCluster,
  localCluster,
  serviceCluster,
} from "../clusters/clusters.ts";
import { egressRules, isHttpEgress } from "../config-store.ts";
import type { Listener, TcpProxy, TcpRoute } from "../documents.ts";
import { egressPort } from "../egress-port.ts";
import type { LegacyMesh } from "../legacy-world.ts";

/** A listener, with the clusters that it cannot do without. */
export interface BuiltListener {
  /** undefined: there are clusters only. */
  readonly listener: Listener | undefined;
  readonly clusters: readonly BuiltCluster[];
}

const anyAddress = "0.0.0.0";

/** Is the protocol served as plain bytes? */
export function isTcp(protocol: Protocol): boolean {
  return protocol === "TCP" || protocol === "HTTPS" || protocol === "Mongo" || protocol === "Redis";
}

/** A route by address; a bare address is a block of one. */
export function tcpRoute(cluster: BuiltCluster, addresses: readonly string[]): TcpRoute {
  const list = addresses.map((address) => (address.includes("/") ? address : `${address}/32`));
  return { cluster: cluster.cluster.name, ...(list.length === 0 ? {} : { destination_ip_list: list }) };
}

/**
 * A TCP listener; Mongo's has a filter that reads along, Redis is served as it is.
 * @see docs/how-istio-does-it/legacy-v1.md#filters
 */
export function tcpListener(routes: readonly TcpRoute[], ip: string, port: number, protocol: Protocol): Listener {
  const proxy: TcpProxy = { stat_prefix: "tcp", route_config: { routes } };
  const kind = protocol === "Mongo" ? "mongo" : "tcp";
  return {
    address: `tcp://${ip}:${port}`,
    name: `${kind}_${ip}_${port}`,
    filters: [
      ...(kind === "mongo" ? [{ type: "both" as const, name: "mongo_proxy", config: { stat_prefix: "mongo" } }] : []),
      { type: "read", name: "tcp_proxy", config: proxy },
    ],
    bind_to_port: false,
  };
}

/**
 * Listeners for the TCP ports of services, in the order of host names: at the service's address, or for all addresses where
 * there is none to tell services apart; then only the first service of a port has one.
 */
export function outboundTcpListeners(world: LegacyMesh, node: NodeId): readonly BuiltListener[] {
  const { connectTimeoutMs } = world.mesh;
  const takenPorts = new Set<number>();
  const services = [...world.services].sort((a, b) => byCodePoint(a.hostname, b.hostname));
  return services.flatMap((service) => {
    if (service.external) return [];
    return service.ports.flatMap((port): BuiltListener[] => {
      if (!isTcp(port.protocol)) return [];
      const atAddress = !service.loadBalancingDisabled && service.address !== "" && node.type !== "router";
      if (!atAddress) {
        if (takenPorts.has(port.port)) return [];
        takenPorts.add(port.port);
      }
      const cluster =
        service.loadBalancingDisabled && node.type !== "router"
          ? headlessCluster(connectTimeoutMs)
          : serviceCluster(service.hostname, port, undefined, false, connectTimeoutMs);
      const ip = atAddress ? service.address : anyAddress;
      const route = tcpRoute(cluster, atAddress ? [service.address] : []);
      return [{ listener: tcpListener([route], ip, port.port, port.protocol), clusters: [cluster] }];
    });
  });
}

/** Listeners for the TCP ports of egress rules: one for each port, with a route for each rule. */
export function egressTcpListeners(world: LegacyMesh): readonly BuiltListener[] {
  const byPort = new Map<number, { readonly protocol: string; readonly destinations: string[] }>();
  for (const { spec } of egressRules(world.configs)) {
    for (const { port, protocol } of spec.ports) {
      if (isHttpEgress(protocol)) continue;
      const present = byPort.get(port);
      const destination = spec.destination.service ?? "";
      if (present === undefined) byPort.set(port, { protocol, destinations: [destination] });
      else present.destinations.push(destination);
    }
  }
  return [...byPort].map(([number, { protocol, destinations }]) => {
    const port = egressPort(number, protocol);
    const clusters = destinations.map((destination) => egressCluster(destination, port, world.mesh.connectTimeoutMs));
    const routes = clusters.map((cluster, index) => tcpRoute(cluster, destinations.slice(index, index + 1)));
    return { listener: tcpListener(routes, anyAddress, number, port.protocol), clusters };
  });
}

/** Listeners for probes of the node: always plain TCP. */
export function managementListeners(world: LegacyMesh, node: NodeId): readonly BuiltListener[] {
  return world.managementPorts
    .filter(({ protocol }) => isTcp(protocol) || protocol === "HTTP" || protocol === "HTTP2" || protocol === "GRPC")
    .map(({ port }) => {
      const cluster = localCluster(port, "TCP", world.mesh.connectTimeoutMs);
      return { listener: tcpListener([tcpRoute(cluster, [node.ip])], node.ip, port, "TCP"), clusters: [cluster] };
    });
}
