import type { ListenerJson } from "../../gen/envoy/config/listener/v3/listener_pb.ts";

/**
 * Names of the route tables that a listener asks for, wherever in it a connection manager stands.
 * @param listener after patches
 */
export function rdsNames(listener: ListenerJson): readonly string[] {
  const names = new Set<string>();
  const { filterChains = [], defaultFilterChain, ...rest } = listener;
  // Of a chain only its filters: the listener of a gateway may have thousands, most of each about TLS.
  for (const { filters } of filterChains) collect(filters, names);
  collect(defaultFilterChain?.filters, names);
  collect(rest, names);
  return [...names];
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
