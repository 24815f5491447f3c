import type { ListenerJson } from "../../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { ConfigKey } from "../../../base/diagnostic.ts";
import { httpProxyRouteTable } from "../../names.ts";
import type { Resource } from "../../resource.ts";
import type { ListenerWalk } from "../listener-context.ts";
import type { OutboundEntry } from "./outbound-entry.ts";
import { outboundHttpChain } from "./outbound-http-chain.ts";
import { outboundListener } from "./outbound-listener.ts";

/**
 * The explicit HTTP proxy that workloads may be pointed at; the node's own port beats the mesh's.
 * @returns undefined where nobody asks for one
 * @see docs/how-istio-does-it/listeners.md#http-proxy-listener
 */
export function httpProxyListener(
  walk: ListenerWalk,
  behindAll: readonly ConfigKey[],
): Resource<ListenerJson> | undefined {
  const { context, memo } = walk;
  const { options, mesh, loopbacks } = context;
  const number = options.httpProxyPort === 0 ? mesh.proxyHttpPort : options.httpProxyPort;
  if (number === 0) return undefined;
  const chain = outboundHttpChain(memo, {
    context,
    bind: loopbacks[0],
    port: number,
    protocol: "HTTP_PROXY",
    routeTable: httpProxyRouteTable,
    sniffed: false,
    resolved: undefined,
    isHttpProxy: true,
  });
  const entry: OutboundEntry = {
    binding: { binds: loopbacks, bindToPort: true },
    port: number,
    protocol: "HTTP_PROXY",
    locked: false,
    chains: [chain],
    from: [],
    taken: undefined,
  };
  return outboundListener(walk, entry, behindAll);
}
