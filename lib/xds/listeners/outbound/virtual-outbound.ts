import type { ListenerJson } from "../../../../gen/envoy/config/listener/v3/listener_pb.ts";
import { keyOf } from "../../../config/config.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import { virtualOutboundBlackHoleChain, virtualOutboundCatchAllChain, virtualOutboundListener } from "../../names.ts";
import type { Resource } from "../../resource.ts";
import { envoyAddress } from "../bind.ts";
import { blackHoleFilters } from "../filters/tcp-proxy.ts";
import { httpInspector } from "../inspector.ts";
import type { ListenerContext, ListenerWalk } from "../listener-context.ts";
import { connectionLimit } from "../socket-fields.ts";
import { unclaimedFilters } from "./catch-all.ts";
import { dynamicDnsChains } from "./dynamic-dns-chain.ts";

/**
 * The listener that outbound traffic is redirected to; it hands connections to the listener of their original
 * destination and keeps the rest.
 *
 * @returns undefined where nothing redirects
 * @see docs/how-istio-does-it/listeners.md#virtualoutbound
 */
export function virtualOutbound({ view, context, memo }: ListenerWalk): Resource<ListenerJson> | undefined {
  if (view.proxy.interceptionMode === "NONE") return undefined;
  const json = virtualOutboundJson(memo, { context });
  const { sidecar } = view.scope;
  return { name: virtualOutboundListener, json, from: sidecar === undefined ? [] : [keyOf(sidecar)] };
}

const virtualOutboundJson = query(
  "virtual outbound listener",
  ({ context }: { readonly context: ListenerContext }, memo: Memo) => jsonOf(context, memo),
);

function jsonOf(context: ListenerContext, memo: Memo): ListenerJson {
  const { mesh, proxy, wildcards, client } = context;
  const port = mesh.proxyListenPort;
  const accessLog = client.logs.listener;
  const resolving = dynamicDnsChains(context, memo);
  return {
    name: virtualOutboundListener,
    address: envoyAddress(wildcards[0], port),
    filterChains: [
      {
        name: virtualOutboundBlackHoleChain,
        filterChainMatch: { destinationPort: port },
        filters: blackHoleFilters(context, "outbound"),
      },
      ...resolving,
      { name: virtualOutboundCatchAllChain, filters: unclaimedFilters(context) },
    ],
    ...(resolving.length === 0 ? {} : { listenerFilters: [httpInspector] }),
    useOriginalDst: true,
    ...(proxy.interceptionMode === "TPROXY" ? { transparent: true } : {}),
    trafficDirection: "OUTBOUND",
    ...(accessLog.length === 0 ? {} : { accessLog: [...accessLog] }),
    ...connectionLimit,
  };
}
