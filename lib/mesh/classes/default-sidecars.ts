import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { plainSidecar } from "../proxy/plain-sidecar.ts";
import type { Proxy } from "../proxy/proxy.ts";

/** One for each namespace that has sidecars: that of a pod which says nothing of itself. */
export function defaultSidecars(proxies: readonly Proxy[], meshConfig: MeshConfig): readonly Proxy[] {
  const byNamespace = new Map<string, Proxy>();
  for (const proxy of proxies) {
    if (proxy.type !== "sidecar" || byNamespace.has(proxy.namespace)) continue;
    byNamespace.set(proxy.namespace, plainSidecar(proxy, meshConfig));
  }
  return [...byNamespace.values()];
}
