/**
 * Names of the route tables that a listener asks for, wherever in it a connection manager stands.
 * @param listener JSON of a listener, after patches
 */
export function rdsNames(listener: unknown): readonly string[] {
  const names = new Set<string>();
  collect(listener, names);
  return [...names];
}

function collect(json: unknown, names: Set<string>): void {
  if (typeof json !== "object" || json === null) return;
  for (const [key, value] of Object.entries(json)) {
    if (key === "rds" && typeof value === "object" && value !== null && "routeConfigName" in value) {
      if (typeof value.routeConfigName === "string") names.add(value.routeConfigName);
    } else collect(value, names);
  }
}
