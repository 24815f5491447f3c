import type { ListenerJson } from "../../../../gen/envoy/config/listener/v3/listener_pb.ts";
import { httpProxyRouteTable } from "../../names.ts";
import type { Resource } from "../../resource.ts";
import type { ListenerContext } from "../listener-context.ts";
import { outboundHttpChain } from "./outbound-http-chain.ts";
import { outboundListener } from "./outbound-listener.ts";

/**
 * The explicit HTTP proxy that workloads may be pointed at; the node's own port beats the mesh's.
 * @returns undefined where nobody asks for one
 * @see docs/how-istio-does-it/listeners.md#http-proxy-listener
 */
export function httpProxyListener(context: ListenerContext): Resource<ListenerJson> | undefined {
  const { view, loopbacks } = context;
  const number = view.options.httpProxyPort === 0 ? view.lookups.mesh.proxyHttpPort : view.options.httpProxyPort;
  if (number === 0) return undefined;
  const port = { port: number, name: "", protocol: "HTTP_PROXY" } as const;
  const chain = outboundHttpChain(context, {
    bind: loopbacks[0],
    port,
    routeTable: httpProxyRouteTable,
    sniffed: false,
    resolved: undefined,
    isHttpProxy: true,
  });
  return outboundListener(context, {
    binding: { binds: loopbacks, bindToPort: true },
    port: number,
    protocol: "HTTP_PROXY",
    locked: false,
    chains: [chain],
    from: [],
    taken: undefined,
  });
}
