import type { Endpoint, Provider, Service } from "../service.ts";

/**
 * What one registry that is no Kubernetes cluster and no set of ServiceEntries knows (Consul, memory): plain data,
 * made in one piece. Equal content should be the same object, so that a build sees that nothing changed.
 */
export interface RegistryContent {
  readonly provider: Provider;
  readonly services: readonly Service[];
  /** By `serviceKey`; no entry for a service without endpoints. */
  readonly endpoints: ReadonlyMap<string, readonly Endpoint[]>;
}
