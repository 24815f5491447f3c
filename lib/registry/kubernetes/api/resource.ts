/** A collection of an API server: what to ask for, and what its items are. */
export interface ApiResource {
  /** `/api/v1/services`; of all namespaces, unless it names one. */
  readonly path: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly fieldSelector?: string;
  /** Only metadata are wanted, and sent. */
  readonly metadataOnly?: boolean;
}

/** Path of one object of a collection that spans all namespaces. */
export const objectPath = (
  { path }: ApiResource,
  { isClusterScoped, plural }: { readonly isClusterScoped: boolean; readonly plural: string },
  namespace: string,
  name: string,
): string =>
  isClusterScoped ? `${path}/${name}` : path.replace(/\/[^/]+$/, `/namespaces/${namespace}/${plural}/${name}`);

/** Path and query of a request for a resource. */
export function resourcePath(resource: ApiResource, query: Readonly<Record<string, string>>): string {
  const { path, fieldSelector } = resource;
  const all = new URLSearchParams({ ...query, ...(fieldSelector === undefined ? {} : { fieldSelector }) });
  return `${path}?${all}`;
}

/** Media type to ask a resource by, for a list or for one object (a watch). */
export function acceptOf({ metadataOnly = false }: ApiResource, what: "list" | "watch"): string {
  if (!metadataOnly) return "application/json";
  const type = what === "list" ? "PartialObjectMetadataList" : "PartialObjectMetadata";
  return `application/json;as=${type};g=meta.k8s.io;v=v1`;
}
