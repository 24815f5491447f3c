/** Any JSON value, as read from an expected file or made by a generator. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Array.isArray does not narrow a union that has a readonly array in it.
export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** A generated value as JSON would carry it: undefined members gone, numbers and texts as they are. */
export function asJson(value: unknown): Json {
  const parsed: Json = JSON.parse(JSON.stringify(value));
  return parsed;
}
