import type { ListenerFilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { ConfigKey, Origin } from "../../../config/diagnostic.ts";
import { sniHostsOf } from "../../../mesh/gateway/gateway-port.ts";
import type { GatewayServer, MergedServers, ServerPort } from "../../../mesh/gateway/merged-gateway.ts";
import { parseProtocol } from "../../../registry/protocol.ts";
import { packAny } from "../../core-messages.ts";
import { httpStatPrefix, listenerName } from "../../names.ts";
import type { Resource } from "../../resource.ts";
import { serverDownstreamContext } from "../../tls/downstream-server.ts";
import { envoyAddress } from "../bind.ts";
import { chainOverlap, withoutOverlaps } from "../chain-overlap.ts";
import { matchAll } from "../filter-chain-match.ts";
import { httpConnectionManager } from "../filters/http-connection-manager.ts";
import { httpChainFilters } from "../filters/network-filters.ts";
import { tlsInspector } from "../inspector.ts";
import type { ListenerContext } from "../listener-context.ts";
import { protocolClass } from "../outbound/outbound-entry.ts";
import { connectionLimit, exactBalanceField } from "../socket-fields.ts";
import { type GatewayChain, gatewayFilterChain, readsHandshake } from "./gateway-chain.ts";
import { gatewayTcpChains, type TakenServerNames } from "./gateway-tcp-chains.ts";

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
export function gatewayListeners(context: ListenerContext): readonly Resource<ListenerJson>[] {
  const merged = context.view.gateway?.merged;
  if (merged === undefined) return [];
  const listeners = new Map<string, GatewayListener>();
  const takenByPort = new Map<number, TakenServerNames>();
  merged.serverPorts.forEach((serverPort, index) => {
    const servers = merged.mergedServers[index];
    if (servers === undefined) return;
    if (context.view.options.unprivilegedPod && serverPort.number < firstUnprivilegedPort) return;
    const bind = serverPort.bind === "" ? context.wildcards[0] : serverPort.bind;
    const name = listenerName(bind, serverPort.number);
    const listener = listeners.get(name) ?? { bind, port: serverPort.number, chains: [], from: [] };
    listeners.set(name, listener);
    const taken = takenByPort.get(serverPort.number) ?? new Map<string, string>();
    takenByPort.set(serverPort.number, taken);
    listener.chains.push(...portChains(context, name, serverPort, servers, taken));
    for (const { key } of servers.servers) listener.from.push(key);
  });
  return [...listeners].flatMap(([name, listener]) =>
    listener.chains.length > 0 ? [gatewayListener(context, name, listener)] : [],
  );
}

function portChains(
  context: ListenerContext,
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
      httpChain(context, {
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
        httpChain(context, {
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
    const chains = gatewayTcpChains(context, server, taken);
    if (chains.length === 0) context.report(nothingToServe(server));
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

function httpChain(context: ListenerContext, http: GatewayHttp): GatewayChain {
  const { listener, port, protocol, routeName, extended, server, origin } = http;
  const name = `gateway http|${listener}|${port}|${protocol}|${routeName}|${extended}`;
  return context.stable([server?.written ?? origin], name, () => makeHttpChain(context, http));
}

function makeHttpChain(
  context: ListenerContext,
  { listener, port, protocol, routeName, server, extended, origin }: GatewayHttp,
): GatewayChain {
  const { lookups, options } = context.view;
  const place = { class: "gateway", port } as const;
  const name = server?.server.name ?? "";
  const settings = server?.server.tls;
  const connectionManager = httpConnectionManager(context, {
    place,
    // A named server has its statistics under its own name, and then without the final `;`.
    statPrefix: name === "" ? httpStatPrefix("outbound", listener) : name,
    routes: { kind: "rds", name: routeName },
    protocol: parseProtocol(protocol),
  });
  return {
    match: { ...matchAll, sniHosts: sniHostsOf(server?.server.hosts ?? []) },
    origin,
    tls:
      settings === undefined ? undefined : serverDownstreamContext(settings, lookups, options.tlsServerFiles, "http"),
    filters: extended ? httpChainFilters(context, place, connectionManager) : [connectionManager],
  };
}

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

function gatewayListener(context: ListenerContext, name: string, listener: GatewayListener): Resource<ListenerJson> {
  const { bind, port } = listener;
  const { chains, trimmed } = withoutOverlaps(listener.chains);
  for (const chain of trimmed) context.report(chainOverlap(name, chain.match, chain.origin));
  const json = context.stable(chains, `gateway|${bind}|${port}`, () =>
    gatewayJson(context, { name, bind, port, chains }),
  );
  return { name, json, from: listener.from };
}

function gatewayJson(
  context: ListenerContext,
  listener: Pick<GatewayListener, "bind" | "port"> & {
    readonly name: string;
    readonly chains: readonly GatewayChain[];
  },
): ListenerJson {
  const { view, telemetry } = context;
  const accessLog = telemetry.CLIENT.logs.listener;
  const listenerFilters = [
    ...(view.proxy.proxyConfig.gatewayTopology?.proxyProtocol === undefined ? [] : [proxyProtocol]),
    ...(listener.chains.some(readsHandshake) ? [tlsInspector] : []),
  ];
  return {
    name: listener.name,
    address: envoyAddress(listener.bind, listener.port),
    filterChains: listener.chains.map(gatewayFilterChain),
    ...(listenerFilters.length === 0 ? {} : { listenerFilters }),
    trafficDirection: "OUTBOUND",
    ...exactBalanceField(view.options.outboundExactBalance),
    ...(accessLog.length === 0 ? {} : { accessLog: [...accessLog] }),
    ...connectionLimit,
  };
}
