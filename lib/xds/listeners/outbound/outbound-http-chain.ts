import type { Service } from "../../../registry/service.ts";
import { httpStatPrefix, listenerName } from "../../names.ts";
import { matchAll } from "../filter-chain-match.ts";
import { plainHttpAlpns } from "../filters/alpn.ts";
import { httpConnectionManager } from "../filters/http-connection-manager.ts";
import { httpChainFilters } from "../filters/network-filters.ts";
import type { ListenerContext } from "../listener-context.ts";
import { httpForwardProxy } from "./dynamic-forward-proxy.ts";
import type { OutboundChain } from "./outbound-entry.ts";
import type { ChainPort } from "./tcp-destination.ts";

/** An outbound listener that speaks HTTP. */
export interface OutboundHttp {
  readonly bind: string;
  readonly port: ChainPort;
  readonly routeTable: string;
  readonly sniffed: boolean;
  /** The first service on the listener, if its names are resolved at run time; the others are not asked. */
  readonly resolved: Service | undefined;
  /** The explicit proxy of the mesh. */
  readonly isHttpProxy: boolean;
}

/**
 * The HTTP chain of an outbound listener. A sniffed or wildcard listener takes only what looks like HTTP, since TCP may
 * come as well; an explicit bind takes everything.
 */
export function outboundHttpChain(context: ListenerContext, listener: OutboundHttp): OutboundChain {
  const { bind, port, routeTable, sniffed, resolved, isHttpProxy } = listener;
  const name = [bind, port.port, port.protocol, routeTable, sniffed, isHttpProxy].join("|");
  const from = resolved === undefined ? [] : [resolved];
  return context.stable(from, `outbound http|${name}`, () => httpChain(context, listener));
}

function httpChain(context: ListenerContext, listener: OutboundHttp): OutboundChain {
  const { bind, port, routeTable, sniffed, resolved, isHttpProxy } = listener;
  const place = { class: "outbound", port: port.port } as const;
  const connectionManager = httpConnectionManager(context, {
    place,
    statPrefix: httpStatPrefix("outbound", listenerName(bind, port.port)),
    routes: { kind: "rds", name: routeTable },
    protocol: port.protocol,
    isHttpProxy,
    forwardProxies: resolved === undefined ? [] : [httpForwardProxy(resolved)],
  });
  return {
    match: sniffed ? { ...matchAll, transportProtocol: "raw_buffer", applicationProtocols: plainHttpAlpns } : matchAll,
    filters: httpChainFilters(context, place, connectionManager),
  };
}
