/** A collection of an API server: what to ask for, and what its items are. */
export interface ApiResource {
  /** `/api/v1/services`; of all namespaces. */
  readonly path: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly fieldSelector?: string;
}

/**
 * What a Kubernetes registry reads, in the order of a snapshot: pods after the slices that name them.
 * @see docs/how-istio-does-it/kubernetes.md#resources
 */
export const registryResources: readonly ApiResource[] = [
  { path: "/api/v1/services", apiVersion: "v1", kind: "Service" },
  { path: "/apis/discovery.k8s.io/v1/endpointslices", apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
  { path: "/api/v1/pods", apiVersion: "v1", kind: "Pod", fieldSelector: "status.phase!=Failed" },
  { path: "/api/v1/nodes", apiVersion: "v1", kind: "Node" },
  { path: "/api/v1/namespaces", apiVersion: "v1", kind: "Namespace" },
];

/** Path and query of a request for a resource. */
export function resourcePath(resource: ApiResource, query: Readonly<Record<string, string>>): string {
  const { path, fieldSelector } = resource;
  const all = new URLSearchParams({ ...query, ...(fieldSelector === undefined ? {} : { fieldSelector }) });
  return `${path}?${all}`;
}
