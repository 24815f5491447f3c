import { allShared, type ClassResources, type Resource, type ResourceType, wholeList } from "../lib/xds/resource.ts";

/** Everything of a class as one list a type, sorted by name: what a proxy has in the end. */
export type WholeResources = Readonly<Record<ResourceType, readonly Resource[]>>;

export const wholeResources = ({
  clusters,
  endpoints,
  listeners,
  routes,
  extension_configs = allShared([]),
  name_tables = allShared([]),
}: ClassResources): WholeResources => ({
  clusters: wholeList(clusters),
  endpoints: wholeList(endpoints),
  listeners: wholeList(listeners),
  routes: wholeList(routes),
  extension_configs: wholeList(extension_configs),
  name_tables: wholeList(name_tables),
});
