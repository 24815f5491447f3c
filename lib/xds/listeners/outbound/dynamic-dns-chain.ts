import type { FilterChainJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { dynamicDnsHost, httpStatPrefix, virtualOutboundHttpChain, virtualOutboundListener } from "../../names.ts";
import { catchAllVirtualHost } from "../../routes/actions/default-route.ts";
import { forwardedHeaders } from "../../routes/table-context.ts";
import { inlineTable } from "../../routes/virtual-host.ts";
import { plainHttpAlpns } from "../filters/alpn.ts";
import { httpConnectionManager } from "../filters/http-connection-manager.ts";
import { httpChainFilters } from "../filters/network-filters.ts";
import type { ListenerContext } from "../listener-context.ts";

/**
 * Takes plain HTTP that no listener claims, to the host that each request names.
 *
 * @returns none where hosts are not resolved
 */
export function dynamicDnsChains(context: ListenerContext, memo: Memo): readonly FilterChainJson[] {
  const { proxy, outboundTrafficPolicy, mesh } = context;
  if (proxy.dynamicDns === undefined) return [];
  const chainTarget = { class: "outbound", port: mesh.proxyListenPort } as const;
  const host = catchAllVirtualHost(outboundTrafficPolicy, forwardedHeaders(proxy));
  const options = {
    chainTarget,
    statPrefix: httpStatPrefix("outbound", `${virtualOutboundListener}_${dynamicDnsHost}`),
    routes: { kind: "inline", table: inlineTable(dynamicDnsHost, [host]) },
    protocol: "HTTP",
  } as const;
  return [
    {
      name: virtualOutboundHttpChain,
      filterChainMatch: { applicationProtocols: [...plainHttpAlpns] },
      filters: httpChainFilters(context, chainTarget, httpConnectionManager(context, options, memo)),
    },
  ];
}
