import type { Labels } from "../config/values/labels.ts";
import { splitLocality } from "./locality.ts";

/** Labels that say where a workload runs; failover priorities and subsets may name them. */
export const regionLabel = "topology.kubernetes.io/region";
export const zoneLabel = "topology.kubernetes.io/zone";
export const subzoneLabel = "topology.istio.io/subzone";
export const clusterLabel = "topology.istio.io/cluster";
export const networkLabel = "topology.istio.io/network";
export const nodeLabel = "kubernetes.io/hostname";

/** Which version of a Deployment a pod is of. */
export const templateHashLabel = "pod-template-hash";

/** The same of a Rollout (Argo). */
export const rolloutHashLabel = "rollouts-pod-template-hash";

/** Label that says whether a workload's proxy takes mutual TLS. */
export const tlsModeLabel = "security.istio.io/tlsMode";

/** Labels that name the cookie, or the header, by which clients of a service come back to the endpoint they began with. */
const sessionCookieLabel = "istio.io/persistent-session";
const sessionHeaderLabel = "istio.io/persistent-session-header";

/** Whether clients of a service come back to the endpoint they began with, by a cookie or a header. */
export function hasPersistentSession(labels: Labels): boolean {
  return keepsDraining(labels) || (labels[sessionHeaderLabel] ?? "") !== "";
}

/** Whether clients of a service still find an endpoint that drains: with a cookie, not with a header, as in Istio. */
export const keepsDraining = (labels: Labels): boolean => (labels[sessionCookieLabel] ?? "") !== "";

/** Where an endpoint is, as far as it is known; "" for what is not. */
export interface Topology {
  readonly clusterId: string;
  readonly locality: string;
  readonly nodeName: string;
  readonly network: string;
}

/**
 * Workload labels with the topology laid over them, so that subsets and failover priorities can name it.
 * Only what is known is added, and what is added overrides; labels that say it all already stay as they are.
 * @see docs/how-istio-does-it/services.md#labels
 */
export function withTopology(labels: Labels, { locality, clusterId, nodeName, network }: Topology): Labels {
  const { region, zone, subzone } = splitLocality(locality);
  let out: Record<string, string> | undefined;
  const add = (name: string, value: string): void => {
    if (value === "" || (out ?? labels)[name] === value) return;
    out ??= { ...labels };
    out[name] = value;
  };
  add(regionLabel, region);
  add(zoneLabel, zone);
  add(subzoneLabel, subzone);
  add(clusterLabel, clusterId);
  add(nodeLabel, nodeName);
  add(networkLabel, network);
  return out ?? labels;
}
