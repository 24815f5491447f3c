/**
 * Names of the route tables that a listener asks for, wherever in it a connection manager stands.
 * @param listener JSON of a listener, after patches
 */
export function rdsNames(listener: unknown): readonly string[] {
  const names = new Set<string>();
  collect(listener, names);
  return [...names];
}

/** Walks without making lists of entries: a gateway's listener may have megabytes. */
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
