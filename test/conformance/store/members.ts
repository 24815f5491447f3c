import { isArray, isObject, type Json } from "../json.ts";

/** The same keys with other values. */
export function mapValues<From, To>(
  object: Readonly<Record<string, From>>,
  change: (value: From, key: string) => To,
): Readonly<Record<string, To>> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

/** A list or object with each member changed; any other value is itself. */
export function withMembers(value: Json, change: (member: Json) => Json): Json {
  if (isArray(value)) return value.map((member) => change(member));
  return isObject(value) ? mapValues(value, (member) => change(member)) : value;
}
