import { splitLocality } from "./locality.ts";

export type Labels = Readonly<Record<string, string>>;

/** Says whether every pair of `part` is in `whole`; an empty part is in everything. */
export function isSubset(part: Labels, whole: Labels): boolean {
  for (const key in part) if (part[key] !== whole[key]) return false;
  return true;
}

/** A workload selector's test: as `isSubset`, but a selector without pairs (or none at all) selects nothing. */
export function selects(selector: Labels | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  for (const _key in selector) return isSubset(selector, labels);
  return false;
}

/** Where an endpoint is, as far as it is known; "" for what is not. */
export interface Topology {
  readonly clusterId: string;
  readonly locality: string;
  readonly nodeName: string;
  readonly network: string;
}

/** Label that names the network a workload is in. */
export const networkLabel = "topology.istio.io/network";
/** Label that says whether a workload's proxy takes mutual TLS. */
export const tlsModeLabel = "security.istio.io/tlsMode";

/**
 * Workload labels with the topology laid over them, so that subsets and failover priorities can name it.
 * Only what is known is added, and what is added overrides.
 * @see docs/how-istio-does-it/services.md#labels
 */
export function withTopology(labels: Labels, topology: Topology): Labels {
  const { region, zone, subzone } = splitLocality(topology.locality);
  const out: Record<string, string> = { ...labels };
  if (region !== "") out["topology.kubernetes.io/region"] = region;
  if (zone !== "") out["topology.kubernetes.io/zone"] = zone;
  if (subzone !== "") out["topology.istio.io/subzone"] = subzone;
  if (topology.clusterId !== "") out["topology.istio.io/cluster"] = topology.clusterId;
  if (topology.nodeName !== "") out["kubernetes.io/hostname"] = topology.nodeName;
  if (topology.network !== "") out[networkLabel] = topology.network;
  return out;
}
