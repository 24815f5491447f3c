import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import type { Protocol, Service } from "../../../registry/service.ts";
import { httpStatPrefix, listenerName } from "../../names.ts";
import { matchAll } from "../filter-chain-match.ts";
import { plainHttpAlpns } from "../filters/alpn.ts";
import { httpConnectionManager } from "../filters/http-connection-manager.ts";
import { httpChainFilters } from "../filters/network-filters.ts";
import type { ListenerContext } from "../listener-context.ts";
import { httpForwardProxy } from "./dynamic-forward-proxy.ts";
import type { OutboundChain } from "./outbound-entry.ts";

/** An outbound listener that speaks HTTP. */
interface OutboundHttp {
  readonly context: ListenerContext;
  readonly bind: string;
  readonly port: number;
  readonly protocol: Protocol;
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
export const outboundHttpChain = query("outbound HTTP chain", (listener: OutboundHttp, memo: Memo): OutboundChain => {
  const { context, bind, port, protocol, routeTable, sniffed, resolved, isHttpProxy } = listener;
  const chainTarget = { class: "outbound", port } as const;
  const options = {
    chainTarget,
    statPrefix: httpStatPrefix("outbound", listenerName(bind, port)),
    routes: { kind: "rds", name: routeTable },
    protocol,
    isHttpProxy,
    forwardProxies: resolved === undefined ? [] : [httpForwardProxy(resolved, context)],
  } as const;
  return {
    match: sniffed ? { ...matchAll, transportProtocol: "raw_buffer", applicationProtocols: plainHttpAlpns } : matchAll,
    filters: httpChainFilters(context, chainTarget, httpConnectionManager(context, options, memo)),
  };
});
