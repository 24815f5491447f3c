import type { ListenerJson } from "../../../../gen/envoy/config/listener/v3/listener_pb.ts";
import { keyOf } from "../../../config/config.ts";
import { virtualOutboundBlackHoleChain, virtualOutboundCatchAllChain, virtualOutboundListener } from "../../names.ts";
import type { Resource } from "../../resource.ts";
import { envoyAddress } from "../bind.ts";
import { blackHoleTcpProxy } from "../filters/tcp-proxy.ts";
import type { ListenerContext } from "../listener-context.ts";
import { connectionLimit } from "../socket-fields.ts";
import { catchAllFilter } from "./catch-all.ts";

/**
 * The listener that outbound traffic is redirected to; it hands connections to the listener of their original
 * destination and keeps the rest.
 *
 * @returns undefined where nothing redirects
 * @see docs/how-istio-does-it/listeners.md#virtualoutbound
 */
export function virtualOutbound(context: ListenerContext): Resource<ListenerJson> | undefined {
  const { view } = context;
  if (view.proxy.interceptionMode === "NONE") return undefined;
  const json = context.stable([], "virtual outbound", () => virtualOutboundJson(context));
  const { sidecar } = view.scope;
  return { name: virtualOutboundListener, json, from: sidecar === undefined ? [] : [keyOf(sidecar)] };
}

function virtualOutboundJson(context: ListenerContext): ListenerJson {
  const { view, wildcards, telemetry } = context;
  const port = view.lookups.mesh.proxyListenPort;
  const accessLog = telemetry.CLIENT.logs.listener;
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
    ...(view.proxy.interceptionMode === "TPROXY" ? { transparent: true } : {}),
    trafficDirection: "OUTBOUND",
    ...(accessLog.length === 0 ? {} : { accessLog: [...accessLog] }),
    ...connectionLimit,
  };
}
