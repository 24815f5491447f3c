import type { Proxy } from "../proxy/proxy.ts";

/** One sidecar for each namespace that has any: like its first, but without labels and address of a workload. */
export function defaultSidecars(proxies: readonly Proxy[]): readonly Proxy[] {
  const byNamespace = new Map<string, Proxy>();
  for (const proxy of proxies) {
    if (proxy.type !== "sidecar" || byNamespace.has(proxy.namespace)) continue;
    const ipv6 = proxy.addresses[0]?.includes(":") === true;
    byNamespace.set(proxy.namespace, {
      ...proxy,
      id: `.${proxy.namespace}`,
      // Documentation ranges: no workload has these addresses.
      addresses: [ipv6 ? "2001:db8::1" : "192.0.2.1"],
      labels: {},
      nodeName: "",
      locality: "",
    });
  }
  return [...byNamespace.values()];
}
