import { byCodePoint } from "../../base/diagnostic.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import type { NodeId } from "../../legacy/node-id.ts";
import { httpProxyTable } from "../../legacy/v1-request.ts";
import { withPolicy } from "../clusters/cluster-policy.ts";
import { type BuiltCluster, uniqueClusters } from "../clusters/clusters.ts";
import { externalTcpListeners } from "../compat/external-routes.ts";
import type { Cluster, HttpFilter, Listener } from "../documents.ts";
import { type LegacyMesh, usesMixer } from "../legacy-world.ts";
import type { RequestContext } from "../request-context.ts";
import type { BuiltHost, RouteTables } from "../routes/outbound-routes.ts";
import { outboundTables } from "../routes/rds.ts";
import type { RunsHere } from "../runs-here.ts";
import { routingNode } from "../service-tables.ts";
import { type HttpListenerOptions, httpListener } from "./http-listener.ts";
import { type BuiltListener, egressTcpListeners, outboundTcpListeners } from "./tcp-listeners.ts";

/** What nodes listen on for traffic that goes out, and what it takes: the same for most nodes of a mesh. */
export interface Outbound {
  /** Sorted by address, of which each is there once. */
  readonly listeners: readonly Listener[];
  /** Those that tell Mixer of what runs at the node, but for that. */
  readonly mixed: readonly OutboundOptions[];
  /** Addresses of all of them but of those that take everything: a port for probes gives way to them. */
  readonly addresses: ReadonlySet<string>;
  /** With their policies; each name once, sorted. */
  readonly clusters: readonly Cluster[];
}

/** An HTTP listener, but for what runs at its node. */
export type OutboundOptions = Omit<HttpListenerOptions, "services">;

/** One object for all nodes of which rules and policies say the same. */
export const outboundOf = (
  memo: Memo,
  { world, node }: Pick<RequestContext, "world" | "node">,
  here: RunsHere,
): Outbound => outbound(memo, { world, node: routingNode({ world, node }) }, here).value;

const outbound = trackedQuery(
  "outbound listeners and clusters of the v1 API",
  { node: "value" },
  ({ world, node }: Pick<RequestContext, "world" | "node">, here: RunsHere, memo: Memo): Outbound => {
    const { mesh } = world;
    const tables = outboundTables(memo, { world, node, v2Names: false }, here);
    const isCaptured = node.type === "router" || mesh.proxyListenPort > 0;
    const http = isCaptured ? [...tables].map(([port, hosts]) => portOptions(port, faultsOf(memo, { hosts }))) : [];
    const proxy = mesh.proxyHttpPort > 0 ? [proxyOptions(mesh.proxyHttpPort)] : [];
    const tcp = isCaptured ? tcpListeners(world, node) : [];
    const built = [
      ...tcp.flatMap(({ listener }) => listener ?? []),
      ...http,
      ...(isCaptured && node.type !== "router" ? [captureListener(mesh.proxyListenPort)] : []),
      ...proxy,
    ];
    const byAddress = new Map<string, Listener | OutboundOptions>();
    for (const one of built) if (!byAddress.has(addressOf(one))) byAddress.set(addressOf(one), one);
    const winners = [...byAddress].sort(([a], [b]) => byCodePoint(a, b)).map(([, one]) => one);
    const isMixed = usesMixer(mesh);
    const clusters = [
      ...tcp.flatMap((listener) => listener.clusters),
      ...(isCaptured ? clustersOfTables(tables) : []),
      ...(proxy.length === 0 ? [] : clustersOfTables(tables)),
    ];
    return {
      listeners: winners.flatMap((one) => {
        if ("address" in one) return one;
        return isMixed ? [] : httpListener({ ...one, services: [] }, world, node);
      }),
      mixed: isMixed ? winners.flatMap((one) => ("address" in one ? [] : one)) : [],
      addresses: new Set([...tcp.flatMap(({ listener }) => listener?.address ?? []), ...http.map(addressOf)]),
      clusters: uniqueClusters(clusters).map((cluster) => withPolicy(cluster, here, world, node.domain)),
    };
  },
);

/** Routers have no egress. */
function tcpListeners(world: LegacyMesh, node: NodeId): readonly BuiltListener[] {
  const egress = node.type === "router" ? [] : egressTcpListeners(world);
  return [...outboundTcpListeners(world, node), ...egress, ...externalTcpListeners(world)];
}

const addressOf = (one: Listener | OutboundOptions): string =>
  "address" in one ? one.address : `tcp://${one.ip}:${one.port}`;

/** Takes all traffic that is redirected to the proxy: the only listener for it that binds. */
function captureListener(port: number): Listener {
  return {
    address: `tcp://0.0.0.0:${port}`,
    name: "virtual",
    filters: [],
    bind_to_port: true,
    use_original_dst: true,
  };
}

const common = { outbound: true, operation: "egress", useRemoteAddress: false, policy: undefined } as const;

const portOptions = (port: number, faults: readonly HttpFilter[]): OutboundOptions => ({
  ...common,
  ip: "0.0.0.0",
  port,
  routes: String(port),
  faults,
  bindToPort: false,
});

/** The explicit HTTP proxy of applications that ask for one. */
const proxyOptions = (port: number): OutboundOptions => ({
  ...common,
  ip: "127.0.0.1",
  port,
  routes: httpProxyTable,
  faults: [],
  bindToPort: true,
});

const faultsOf = query(
  "faults of a table of the v1 API",
  ({ hosts }: { readonly hosts: readonly BuiltHost[] }): readonly HttpFilter[] =>
    hosts.flatMap(({ routes }) => routes.flatMap(({ faults }) => faults)),
);

const clustersOfTables = (tables: RouteTables): readonly BuiltCluster[] => [...tables.values()].flatMap(clustersOf);

export const clustersOf = (hosts: readonly BuiltHost[]): readonly BuiltCluster[] =>
  hosts.flatMap((host) => host.routes.flatMap((route) => route.clusters));
