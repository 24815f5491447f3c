/** A table as a front sends it. */
export const tableOf = (table: Readonly<Record<string, object>>) => [
  { text: JSON.stringify({ "@type": "type.googleapis.com/istio.networking.nds.v1.NameTable", table }) },
];

export const kubernetes = (shortname: string, namespace: string, ...ips: string[]) => ({
  ips,
  registry: "Kubernetes",
  shortname,
  namespace,
});

export const external = (...ips: string[]) => ({ ips, registry: "External" });

/** A workload of the namespace `shop`. */
export const dnsClient = { namespace: "shop", domain: "svc.cluster.local", search: "shop.svc.cluster.local" } as const;
