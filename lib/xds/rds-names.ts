import type { FilterChainJson, FilterJson } from "../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { HttpConnectionManagerJson } from "../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";

/**
 * Names of the route tables that listeners ask for, wherever in them a connection manager stands.
 * @param listeners after patches
 */
export function rdsNames(listeners: readonly ListenerJson[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const listener of listeners) {
    for (const field in listener) {
      // Of a chain only its filters: the listener of a gateway may have thousands of chains, most of each about TLS.
      if (field === "filterChains") for (const chain of listener.filterChains ?? []) ofChain(chain, names);
      else if (field === "defaultFilterChain") ofChain(listener.defaultFilterChain ?? {}, names);
      else collect(listener[field as keyof ListenerJson], names);
    }
  }
  return names;
}

function ofChain({ filters = [] }: FilterChainJson, names: Set<string>): void {
  for (const filter of filters) ofFilter(filter, names);
}

/** Filters that hold no other one, by the end of their type: nearly all there are, some of them very large. */
const plainTypes = [".HttpConnectionManager", ".TcpProxy", ".RBAC"];

function ofFilter({ typedConfig }: FilterJson, names: Set<string>): void {
  const type = typedConfig?.["@type"];
  if (typeof type !== "string" || !plainTypes.some((end) => type.endsWith(end))) {
    collect(typedConfig, names);
    return;
  }
  // Of these types only a connection manager has the field.
  const name = (typedConfig as HttpConnectionManagerJson).rds?.routeConfigName;
  if (name !== undefined) names.add(name);
}

/** Walks without making lists of entries: there may be megabytes. */
function collect(json: unknown, names: Set<string>): void {
  if (typeof json !== "object" || json === null) return;
  if (Array.isArray(json)) {
    for (const element of json) collect(element, names);
    return;
  }
  if ("rds" in json && typeof json.rds === "object" && json.rds !== null && "routeConfigName" in json.rds) {
    if (typeof json.rds.routeConfigName === "string") names.add(json.rds.routeConfigName);
  }
  for (const key in json) {
    // Read by key, where the type of what is there is not known.
    const value: unknown = json[key as keyof typeof json];
    if (typeof value === "object") collect(value, names);
  }
}
