import type { Service } from "./service.ts";

function united<V>(maps: readonly ReadonlyMap<string, V>[]): ReadonlyMap<string, V> {
  const out = new Map<string, V>();
  for (const map of maps) for (const [key, value] of map) if (!out.has(key)) out.set(key, value);
  return out;
}

/**
 * One service out of those that several clusters have for a host: everything of the first (the primary cluster's),
 * with the addresses of all by cluster, and the accounts of all.
 *
 * @param services of equal host name and namespace, in the order of the clusters; not empty
 * @see docs/how-istio-does-it/services.md#several-registries-as-one
 */
export function mergeServices(services: readonly [Service, ...Service[]]): Service {
  const [first, ...others] = services;
  if (others.length === 0) return first;
  return {
    ...first,
    clusterVips: united(services.map((service) => service.clusterVips)),
    serviceAccounts: [...new Set(services.flatMap((service) => service.serviceAccounts))].sort(),
    attributes: {
      ...first.attributes,
      clusterExternalAddresses: united(services.map((service) => service.attributes.clusterExternalAddresses)),
      clusterExternalPorts: united(services.map((service) => service.attributes.clusterExternalPorts)),
    },
    origins: services.flatMap((service) => service.origins),
  };
}
