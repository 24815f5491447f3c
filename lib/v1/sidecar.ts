import { byCodePoint } from "../config/diagnostic.ts";
import type { Memo } from "../incremental/memo.ts";
import type { NodeId } from "../snapshot/legacy/node-id.ts";
import { httpProxyTable } from "../snapshot/legacy/question.ts";
import type { BuiltCluster } from "./clusters.ts";
import { externalTcpListeners } from "./compat/external-routes.ts";
import type { Listener } from "./documents.ts";
import { type HttpListenerOptions, httpListener } from "./http-listener.ts";
import { inboundListeners } from "./inbound-listeners.ts";
import type { LegacyInstance, LegacyMesh } from "./legacy-world.ts";
import type { BuiltHost, RouteTables } from "./outbound-routes.ts";
import { outboundTables } from "./rds.ts";
import { runsHere } from "./runs-here.ts";
import { type BuiltListener, egressTcpListeners, managementListeners, outboundTcpListeners } from "./tcp-listeners.ts";

/**
 * Everything that a sidecar (or, for its clusters, a router) listens on, each listener with its clusters.
 * Addresses are unique, the first one wins; sorted by address.
 *
 * @see docs/how-istio-does-it/legacy-v1.md#clusters
 * @see docs/how-istio-does-it/legacy-v1.md#listeners
 */
export function sidecarListeners(
  world: LegacyMesh,
  node: NodeId,
  instances: readonly LegacyInstance[],
  memo: Memo,
): { readonly listeners: readonly Listener[]; readonly clusters: readonly BuiltCluster[] } {
  const captured = node.type === "router" || world.mesh.proxyListenPort > 0;
  const tables = outboundTables(memo, { world, node, v2Names: false }, runsHere(instances, memo));
  const outbound: Outbound = { world, node, instances, tables };
  const built = [
    ...(captured ? capturedListeners(outbound) : []),
    ...(world.mesh.proxyHttpPort > 0 ? [proxyListener(outbound)] : []),
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

/** Whom outbound listeners are for, and the tables that they route by. */
interface Outbound {
  readonly world: LegacyMesh;
  readonly node: NodeId;
  readonly instances: readonly LegacyInstance[];
  readonly tables: RouteTables;
}

/** Listeners for traffic that is redirected to the proxy: none of them binds but the one that takes it all. */
function capturedListeners(outbound: Outbound): readonly BuiltListener[] {
  const { world, node, instances } = outbound;
  if (node.type === "router") {
    return [...outboundTcpListeners(world, node), ...externalTcpListeners(world), ...outboundHttpListeners(outbound)];
  }
  const services = [
    ...inboundListeners({ world, node, instances }),
    ...outboundTcpListeners(world, node),
    ...egressTcpListeners(world),
    ...externalTcpListeners(world),
    ...outboundHttpListeners(outbound),
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

function outboundHttpListeners({ world, node, instances, tables }: Outbound): readonly BuiltListener[] {
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
function proxyListener({ world, node, instances, tables }: Outbound): BuiltListener {
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
