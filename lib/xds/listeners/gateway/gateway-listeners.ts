import type { ListenerFilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { ConfigKey, Origin } from "../../../base/diagnostic.ts";
import type { Server } from "../../../config/kinds/gateway.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import { sniHostsOf } from "../../../mesh/gateway/gateway-port.ts";
import type { GatewayServer, MergedServers, ServerPort } from "../../../mesh/gateway/merged-gateway.ts";
import { parseProtocol } from "../../../registry/protocol.ts";
import { packAny } from "../../core-messages.ts";
import { listenerName } from "../../names.ts";
import type { Resource } from "../../resource.ts";
import { serverDownstreamContext } from "../../tls/downstream-server.ts";
import { envoyAddress } from "../bind.ts";
import { chainOverlap, withoutOverlaps } from "../chain-overlap.ts";
import { bufferLimit } from "../connection-settings.ts";
import { matchAll } from "../filter-chain-match.ts";
import { httpConnectionManager } from "../filters/http-connection-manager.ts";
import { httpChainFilters } from "../filters/network-filters.ts";
import { tlsInspector } from "../inspector.ts";
import { type ListenerContext, tlsSide } from "../listener-context.ts";
import { protocolClass } from "../outbound/outbound-entry.ts";
import { connectionLimit, exactBalanceField } from "../socket-fields.ts";
import { type GatewayChain, gatewayFilterChain, readsHandshake } from "./gateway-chain.ts";
import { type GatewayWalk, gatewayTcpChains, type TakenServerNames } from "./gateway-tcp-chains.ts";

/** Below this only privileged processes may bind. */
const firstUnprivilegedPort = 1024;

const proxyProtocol: ListenerFilterJson = {
  name: "envoy.filters.listener.proxy_protocol",
  typedConfig: packAny("envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol", {}),
};

/** A gateway listener in the making. */
interface GatewayListener {
  readonly bind: string;
  readonly port: number;
  readonly chains: GatewayChain[];
  readonly from: ConfigKey[];
}

/**
 * The listeners of a gateway: one for each address and port of its merged servers.
 * @returns in no particular order; a listener without any chain is left out, with a diagnostic
 * @see docs/how-istio-does-it/listeners.md#gateway-listeners
 */
export function gatewayListeners(walk: GatewayWalk): readonly Resource<ListenerJson>[] {
  const { context, view } = walk;
  const merged = view.gateway?.merged;
  if (merged === undefined) return [];
  const listeners = new Map<string, GatewayListener>();
  const takenByPort = new Map<number, TakenServerNames>();
  merged.serverPorts.forEach((serverPort, index) => {
    const servers = merged.mergedServers[index];
    if (servers === undefined) return;
    if (context.options.unprivilegedPod && serverPort.number < firstUnprivilegedPort) return;
    const bind = serverPort.bind === "" ? context.wildcards[0] : serverPort.bind;
    const name = listenerName(bind, serverPort.number);
    const listener = listeners.get(name) ?? { bind, port: serverPort.number, chains: [], from: [] };
    listeners.set(name, listener);
    const taken = takenByPort.get(serverPort.number) ?? new Map<string, string>();
    takenByPort.set(serverPort.number, taken);
    listener.chains.push(...portChains(walk, name, serverPort, servers, taken));
    for (const { key } of servers.servers) listener.from.push(key);
  });
  return [...listeners].flatMap(([name, listener]) =>
    listener.chains.length > 0 ? [gatewayListener(walk, name, listener)] : [],
  );
}

function portChains(
  walk: GatewayWalk,
  listener: string,
  serverPort: ServerPort,
  { servers, routeName }: MergedServers,
  taken: TakenServerNames,
): readonly GatewayChain[] {
  const port = serverPort.number;
  const origin = servers[0]?.gateway.origin;
  if (origin === undefined) return [];
  if (protocolClass(parseProtocol(serverPort.protocol)) === "HTTP") {
    return [
      httpChain(walk, {
        listener,
        port,
        protocol: serverPort.protocol,
        routeName,
        server: undefined,
        extended: true,
        origin,
      }),
    ];
  }
  // Of the HTTPS servers of a port Istio runs network extensions in front of the first one only.
  const extended = servers.find(endsTlsForHttp);
  return servers.flatMap((server) => {
    if (endsTlsForHttp(server)) {
      const { protocol } = server.server.port;
      return [
        httpChain(walk, {
          listener,
          port,
          protocol,
          routeName: server.routeName,
          server,
          extended: server === extended,
          origin: server.gateway.origin,
        }),
      ];
    }
    const chains = gatewayTcpChains(walk, server, taken);
    if (chains.length === 0) walk.report(nothingToServe(server));
    return chains;
  });
}

function endsTlsForHttp({ server }: GatewayServer): boolean {
  const mode = server.tls?.mode ?? "PASSTHROUGH";
  return (
    parseProtocol(server.port.protocol) === "HTTPS" &&
    server.tls !== undefined &&
    mode !== "PASSTHROUGH" &&
    mode !== "AUTO_PASSTHROUGH"
  );
}

/** An HTTP server, or all plain ones of a port together. */
interface GatewayHttp {
  readonly listener: string;
  readonly port: number;
  readonly protocol: string;
  readonly routeName: string;
  /** Where TLS ends. */
  readonly server: GatewayServer | undefined;
  /** Network extensions stand in front of it. */
  readonly extended: boolean;
  readonly origin: Origin;
}

function httpChain({ context, memo }: GatewayWalk, http: GatewayHttp): GatewayChain {
  return gatewayHttpChain(memo, { ...http, context, server: http.server?.server });
}

interface HttpInputs extends Omit<GatewayHttp, "server"> {
  readonly context: ListenerContext;
  readonly server: Server | undefined;
}

const gatewayHttpChain = query("HTTP chain of a gateway", (inputs: HttpInputs, memo: Memo): GatewayChain => {
  const { context, listener, port, protocol, routeName, server, extended, origin } = inputs;
  const chainTarget = { class: "gateway", port } as const;
  const name = server?.name ?? "";
  const options = {
    chainTarget,
    // A named server has its statistics under its own name, and then without the final `;`.
    statPrefix: name === "" ? `outbound_${listener};` : name,
    routes: { kind: "rds", name: routeName },
    protocol: parseProtocol(protocol),
  } as const;
  const connectionManager = httpConnectionManager(context, options, memo);
  return {
    match: { ...matchAll, sniHosts: sniHostsOf(server?.hosts ?? []) },
    origin,
    tls: server?.tls && serverDownstreamContext(server.tls, tlsSide(context), "http"),
    filters: extended ? httpChainFilters(context, chainTarget, connectionManager) : [connectionManager],
  };
});

function nothingToServe({ server, gateway, gatewayName }: GatewayServer) {
  return {
    code: "gateway-server-without-route",
    severity: "warning",
    origin: gateway.origin,
    path: ["spec", "servers"],
    message: `no virtual service has a route for port ${server.port.number} (${server.port.protocol}) of ${gatewayName}`,
    hint: "bind a virtual service with a tcp or tls route for one of the server's hosts to the gateway",
  } as const;
}

function gatewayListener(
  { context, memo, report }: GatewayWalk,
  name: string,
  listener: GatewayListener,
): Resource<ListenerJson> {
  const { bind, port } = listener;
  const { chains, trimmed } = withoutOverlaps(listener.chains);
  for (const chain of trimmed) report(chainOverlap(name, chain.match, chain.origin));
  return { name, json: gatewayJson(memo, { context, chains, bind, port }), from: listener.from };
}

interface ListenerInputs extends Pick<GatewayListener, "bind" | "port"> {
  readonly context: ListenerContext;
  readonly chains: readonly GatewayChain[];
}

const gatewayJson = query(
  "gateway listener",
  { chains: "elements" },
  ({ context, chains, bind, port }: ListenerInputs): ListenerJson => {
    const { proxy, options, client } = context;
    const accessLog = client.logs.listener;
    const listenerFilters = [
      ...(proxy.proxyConfig.gatewayTopology?.proxyProtocol === undefined ? [] : [proxyProtocol]),
      ...(chains.some(readsHandshake) ? [tlsInspector] : []),
    ];
    return {
      name: listenerName(bind, port),
      address: envoyAddress(bind, port),
      filterChains: chains.map(gatewayFilterChain),
      ...(listenerFilters.length === 0 ? {} : { listenerFilters }),
      trafficDirection: "OUTBOUND",
      ...exactBalanceField(options.outboundExactBalance),
      ...(accessLog.length === 0 ? {} : { accessLog: [...accessLog] }),
      ...connectionLimit,
      ...bufferLimit(context),
    };
  },
);
