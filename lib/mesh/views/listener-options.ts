import { serviceKey } from "../../registry/registry-state.ts";
import type { Memo } from "../memo/memo.ts";
import type { Mesh, SidecarScope } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { headlessServices } from "./listener-lookups.ts";
import type { ListenerOptions } from "./views.ts";

export function listenerOptionsOf(mesh: Mesh, { metadata }: Proxy): ListenerOptions {
  return {
    httpProxyPort: metadata.httpProxyPort,
    http10: metadata.http10,
    idleTimeout: metadata.idleTimeout,
    unprivilegedPod: metadata.unprivilegedPod,
    inboundExactBalance: metadata.inboundExactBalance,
    outboundExactBalance: metadata.outboundExactBalance,
    statusPort: metadata.statusPort,
    prometheusPort: metadata.prometheusPort,
    tlsServerFiles: metadata.tlsServerFiles,
    fetchesKeySets: mesh.compat === "shared",
  };
}

export const listenerOptionsKey = (options: ListenerOptions): string => JSON.stringify(Object.values(options));

/**
 * The proxy's addresses that outbound listeners leave out: those of its own among the endpoints of headless services
 * with ports that are not HTTP. Leaving them out makes a class per pod, so only Istio's form does.
 */
export function ownAddressesFor(mesh: Mesh, proxy: Proxy, scope: SidecarScope, memo: Memo): readonly string[] {
  if (mesh.compat !== "istio" || proxy.type === "router") return [];
  const headless = headlessServices(scope, memo);
  const served = headless.some((service) =>
    mesh.registry.endpoints
      .get(serviceKey(service))
      ?.some((endpoint) => endpoint.addresses.some((address) => proxy.addresses.includes(address))),
  );
  return served ? proxy.addresses : [];
}
