import type { Config } from "../config/config.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import type { MeshNetworks } from "../config/kinds/mesh-networks.ts";
import type { StatedEndpoints } from "../config/kinds/stated-endpoints.ts";
import type { RegistryContent } from "./changes/registry-content.ts";
import type { KubernetesObject } from "./kubernetes/object.ts";

/** What runs, as the sources deliver it. */
export interface RegistryInput {
  /** Primary first: its id is the cluster id of ServiceEntries as well. */
  readonly clusters: readonly ClusterInput[];
  /** Istio objects of the configuration cluster; kinds other than ServiceEntry and WorkloadEntry are passed over. */
  readonly configs: readonly Config[];
  /** Registries of other kinds, in their order: their services stand beside those of the clusters, unmerged. */
  readonly others?: readonly RegistryContent[];
  readonly meshConfig: MeshConfig;
  readonly meshNetworks: MeshNetworks;
  /** Domain suffix of Kubernetes services, `cluster.local`. */
  readonly domain: string;
  /** Namespace whose network label counts for its whole cluster; `istio-system` when absent. */
  readonly systemNamespace?: string;
  /**
   * Where ServiceEntries without addresses get one from: `status`, which a controller has written it to (Istio since
   * 1.25, and when absent), or `hash`, which computes it (before).
   */
  readonly addressAllocation?: "status" | "hash";
}

/** The objects of one Kubernetes cluster, one for each kind, namespace and name. */
export interface ClusterInput {
  readonly id: string;
  /** Network stated for the whole cluster; absent: the label of its system namespace says. */
  readonly network?: string;
  readonly objects: readonly KubernetesObject[];
  /** Where pods listen of which it has no addresses. */
  readonly statedEndpoints?: readonly StatedEndpoints[];
}
