import { byCodePoint } from "../../config/diagnostic.ts";
import type { ProxyConfig } from "../../config/kinds/mesh-config.ts";
import { ipFamily, ipMode } from "../hosts/ip-address.ts";
import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import type { ClassProxy } from "./views.ts";

/** What generators may read of a proxy, whatever the type of resource. */
export function classProxyOf(mesh: Mesh, proxy: Proxy): ClassProxy {
  const { metadata, addresses } = proxy;
  return {
    type: proxy.type,
    namespace: proxy.namespace,
    dnsDomain: proxy.dnsDomain,
    clusterId: proxy.clusterId,
    ipMode: ipMode(addresses),
    firstFamily: ipFamily(addresses[0] ?? ""),
    interceptionMode: metadata.interceptionMode,
    // Istio's address allocation controller is on by default, so that capturing DNS is enough.
    autoAllocatedAddresses: metadata.dnsCapture,
    routerMode: metadata.routerMode,
    // One version of Istio is reproduced; only its own answers depend on what a proxy claims.
    istioVersion: mesh.compat === "istio" ? metadata.istioVersion : "",
    proxyConfig: metadata.proxyConfig,
  };
}

/** Settings of a ProxyConfig that no generated resource depends on. */
const irrelevant: ReadonlySet<string> = new Set([
  "concurrency",
  "image",
  "proxyMetadata",
  "discoveryAddress",
  "readinessProbe",
]);

/** Equal for proxies that no generator can tell apart; the ProxyConfig by what differs from the mesh's. */
export function classProxyKey(proxy: ClassProxy, mesh: Mesh): string {
  const { proxyConfig, ...plain } = proxy;
  const settings =
    proxyConfig === mesh.config.defaultConfig ? "" : differingSettings(proxyConfig, mesh.config.defaultConfig);
  return `${Object.values(plain).join(",")},${settings}`;
}

function differingSettings(own: ProxyConfig, meshDefault: ProxyConfig): string {
  const defaults = new Map<string, unknown>(Object.entries(meshDefault));
  const differing = Object.entries(own)
    .filter(([key, value]) => !irrelevant.has(key) && JSON.stringify(value) !== JSON.stringify(defaults.get(key)))
    .sort(([a], [b]) => byCodePoint(a, b));
  return differing.length === 0 ? "" : JSON.stringify(differing);
}
