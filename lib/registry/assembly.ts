import type { Diagnostic } from "../base/diagnostic.ts";
import type { Config } from "../config/config.ts";
import type { RegistryContent } from "./changes/registry-content.ts";
import type { NetworkGateway } from "./changes/registry-state.ts";
import type { ClusterIndex } from "./kubernetes/cluster-index.ts";
import type { KubernetesObject } from "./kubernetes/object.ts";
import type { RegistryInput } from "./registry-input.ts";
import type { Endpoint, Service } from "./service.ts";
import type { EntryIndex } from "./service-entry/entry-index.ts";
import type { ServiceList } from "./service-list.ts";

/** One cluster in an assembly, with the input it was made from. */
export interface AssembledCluster {
  readonly objects: readonly KubernetesObject[];
  readonly index: ClusterIndex;
}

/**
 * All registries joined, with everything that it takes to derive the next assembly from it at the cost of what
 * changed. Immutable; clusters in the order of the input, the primary first.
 */
export interface Assembly extends ServiceList {
  readonly input: RegistryInput;
  readonly clusters: readonly AssembledCluster[];
  readonly configs: readonly Config[];
  readonly entries: EntryIndex;
  readonly others: readonly RegistryContent[];
  /** Kubernetes services by service key, clusters merged, without aliases. */
  readonly merged: ReadonlyMap<string, Service>;
  readonly endpoints: ReadonlyMap<string, readonly Endpoint[]>;
  /** Sorted by network, cluster, address and port. */
  readonly networkGateways: readonly NetworkGateway[];
  readonly diagnostics: readonly Diagnostic[];
}
