/** The types that every class has. */
export const coreTypes = ["clusters", "endpoints", "listeners", "routes"] as const;
export type CoreType = (typeof coreTypes)[number];

/** Those that few classes have; where none has any, a snapshot says nothing of them. */
export const extraTypes = ["extension_configs", "name_tables"] as const;
export type ExtraType = (typeof extraTypes)[number];

/** The types that a snapshot holds, by the last part of their REST path, in the order in which Envoy must learn them. */
export const resourceTypes = [
  "clusters",
  "endpoints",
  "extension_configs",
  "listeners",
  "routes",
  "name_tables",
] as const satisfies readonly (CoreType | ExtraType)[];
export type ResourceType = CoreType | ExtraType;

/** Something for each type that a class has. */
export type OfTypes<T> = Readonly<Record<CoreType, T>> & Readonly<Partial<Record<ExtraType, T>>>;

/** The same of each type that is there; those that few classes have come last. */
export function mapTypes<A, B>(of: OfTypes<A>, change: (one: A) => B): OfTypes<B> {
  const { clusters, endpoints, listeners, routes, ...extras } = of;
  return {
    clusters: change(clusters),
    endpoints: change(endpoints),
    listeners: change(listeners),
    routes: change(routes),
    ...Object.fromEntries(Object.entries(extras).map(([type, one]) => [type, change(one)])),
  };
}

/** `stream`: as Istio writes it. `poll`: endpoints inlined, REST config sources, nothing that stock Envoy lacks. */
export const shapes = ["stream", "poll"] as const;
export type ShapeName = (typeof shapes)[number];

const typeUrls: Readonly<Record<ResourceType, string>> = {
  clusters: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  endpoints: "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
  listeners: "type.googleapis.com/envoy.config.listener.v3.Listener",
  routes: "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
  extension_configs: "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
  name_tables: "type.googleapis.com/istio.networking.nds.v1.NameTable",
};

export const typeUrlOf = (type: ResourceType): string => typeUrls[type];

export function typeOfUrl(url: string): ResourceType | undefined {
  return resourceTypes.find((type) => typeUrls[type] === url);
}

const wildcards: ReadonlySet<ResourceType> = new Set(["clusters", "listeners", "name_tables"]);

/** Whether a reader asks for the whole type at once (clusters, listeners, names) or for resources by name (endpoints, routes). */
export const isWildcard = (type: ResourceType): boolean => wildcards.has(type);
