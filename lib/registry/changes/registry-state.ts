import type { Labels } from "../../config/values/labels.ts";
import type { ProxyQuery } from "../proxy-query.ts";
import type { Endpoint, Service, ServiceTarget, Workload } from "../service.ts";

/** Key of a service in the endpoint index: `namespace/hostname`. */
export function serviceKey(service: {
  readonly hostname: string;
  readonly attributes: { readonly namespace: string };
}): string {
  return `${service.attributes.namespace}/${service.hostname}`;
}

/**
 * Everything that all registries together know, frozen: the aggregate's answer for one world.
 * Kubernetes services of one host in several clusters are merged, ServiceEntries are converted, aliases are attached.
 */
export interface RegistryState {
  /** Oldest first (creation time, then name, then namespace as in Istio); UDP ports are kept, as Istio keeps them. */
  readonly services: readonly Service[];
  /**
   * By `serviceKey`; every endpoint of every port of the service (each names its service port), whatever its health.
   * In the order of Istio's shards: ServiceEntries, then the clusters by id. No entry for a service without any.
   */
  readonly endpoints: ReadonlyMap<string, readonly Endpoint[]>;
  /** The workload behind a proxy, from the registry that knows it; undefined for an unknown one. */
  workload(proxy: ProxyQuery): Workload | undefined;
  /** Services that the proxy's workload backs, sorted by creation time, then host name, then port order in the service. */
  serviceTargets(proxy: ProxyQuery): readonly ServiceTarget[];
  /** Those of them that follow from what selects workloads: the same object as long as nothing but endpoint slices changes. */
  readonly selectedTargets: SelectedTargets;
  /** All workloads, by cluster, namespace, name: the proxies that a class census starts from. */
  readonly workloads: readonly Workload[];
  /**
   * Gateways found behind services: by their label `topology.istio.io/network`, or named by MeshNetworks
   * (`registryServiceName`). Those that MeshNetworks gives by address are not among them.
   */
  readonly networkGateways: readonly NetworkGateway[];
  /** The namespaces of the primary cluster that have an object, and its labels. */
  readonly namespaces: ReadonlyMap<string, Labels>;
}

/** What workloads back because it selects them: nothing that endpoint slices say is read. */
export interface SelectedTargets {
  /** As `RegistryState.serviceTargets`; undefined for a pod that no service selects, where slices have the word. */
  of(proxy: ProxyQuery): readonly ServiceTarget[] | undefined;
}

/** An address at which another network can be reached (east-west gateway). */
export interface NetworkGateway {
  readonly network: string;
  readonly clusterId: string;
  readonly address: string;
  readonly port: number;
}
