import type { ListenerJson } from "../../../../gen/envoy/config/listener/v3/listener_pb.ts";
import { keyOf } from "../../../config/config.ts";
import { step } from "../../../mesh/memo/step.ts";
import { virtualOutboundBlackHoleChain, virtualOutboundCatchAllChain, virtualOutboundListener } from "../../names.ts";
import type { Resource } from "../../resource.ts";
import { envoyAddress } from "../bind.ts";
import { blackHoleTcpProxy } from "../filters/tcp-proxy.ts";
import type { ListenerContext, ListenerWalk } from "../listener-context.ts";
import { connectionLimit } from "../socket-fields.ts";
import { catchAllFilter } from "./catch-all.ts";

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

const virtualOutboundJson = step(
  "virtual outbound listener",
  { context: "identity" },
  ({ context }: { readonly context: ListenerContext }) => jsonOf(context),
);

function jsonOf(context: ListenerContext): ListenerJson {
  const { mesh, proxy, wildcards, client } = context;
  const port = mesh.proxyListenPort;
  const accessLog = client.logs.listener;
  return {
    name: virtualOutboundListener,
    address: envoyAddress(wildcards[0], port),
    filterChains: [
      {
        name: virtualOutboundBlackHoleChain,
        filterChainMatch: { destinationPort: port },
        filters: [blackHoleTcpProxy],
      },
      { name: virtualOutboundCatchAllChain, filters: [catchAllFilter(context)] },
    ],
    useOriginalDst: true,
    ...(proxy.interceptionMode === "TPROXY" ? { transparent: true } : {}),
    trafficDirection: "OUTBOUND",
    ...(accessLog.length === 0 ? {} : { accessLog: [...accessLog] }),
    ...connectionLimit,
  };
}
