import type { Labels } from "../../config/values/labels.ts";
import { networkLabel } from "../labels.ts";
import type { ClusterNetworks } from "../networks.ts";

/** What the conversion of one cluster depends on beside its Services, slices and pods. */
export interface ClusterSettings {
  readonly clusterId: string;
  /** Domain suffix, `cluster.local`. */
  readonly domain: string;
  readonly trustDomain: string;
  readonly networks: ClusterNetworks;
  /** Network stated for the cluster: by its source, or by the label of its system namespace. "" for none. */
  readonly network: string;
}

/** Network of a workload: its own label, then the cluster's, then what MeshNetworks says of registry and address. */
export function networkOf(address: string, labels: Labels, settings: ClusterSettings): string {
  const own = labels[networkLabel];
  if (own !== undefined && own !== "") return own;
  if (settings.network !== "") return settings.network;
  if (settings.networks.ofRegistry !== "") return settings.networks.ofRegistry;
  return settings.networks.ofAddress(address);
}

/** Host name of a Kubernetes service. */
export function serviceHostname(name: string, namespace: string, domain: string): string {
  return `${name}.${namespace}.svc.${domain}`;
}
