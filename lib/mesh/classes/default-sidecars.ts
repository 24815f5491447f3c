import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { plainSidecar } from "../proxy/plain-sidecar.ts";
import type { Proxy } from "../proxy/proxy.ts";

/**
 * One for each namespace that has sidecars: that of a pod which says nothing of itself. Likewise for each that has programs which speak xDS
 * themselves.
 */
export function defaultSidecars(proxies: readonly Proxy[], meshConfig: MeshConfig): readonly Proxy[] {
  const byKey = new Map<string, Proxy>();
  for (const proxy of proxies) {
    const key = `${proxy.type}/${proxy.namespace}`;
    if (proxy.type === "router" || byKey.has(key)) continue;
    byKey.set(key, plainSidecar(proxy, meshConfig));
  }
  return [...byKey.values()];
}
