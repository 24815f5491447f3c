/** A JSON object as far as a walk over resources needs to know it. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Replaces objects anywhere in a JSON value, the outer ones first; a replacement is not looked into again.
 *
 * @param replace gives another object, or the same one to go on with what is in it
 * @returns the same value where nothing was replaced
 */
export function mapJson(value: unknown, replace: (object: JsonObject) => JsonObject): unknown {
  if (Array.isArray(value)) return mapItems(value, replace);
  if (!isJsonObject(value)) return value;
  const replaced = replace(value);
  if (replaced !== value) return replaced;
  let copy: Record<string, unknown> | undefined;
  for (const key in value) {
    const member = value[key];
    // Most members are no objects: a call for each would cost more than all the rest.
    if (typeof member !== "object") continue;
    const next = mapJson(member, replace);
    if (next === member) continue;
    copy ??= { ...value };
    copy[key] = next;
  }
  return copy ?? value;
}

function mapItems(items: readonly unknown[], replace: (object: JsonObject) => JsonObject): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < items.length; at++) {
    const next = mapJson(items[at], replace);
    if (next === items[at]) continue;
    copy ??= [...items];
    copy[at] = next;
  }
  return copy ?? items;
}
