import type { DescMessage, Registry } from "@bufbuild/protobuf";

/** The message that an Any's `@type` names; undefined for whatever names none that is known. */
export type TypeLookup = (type: unknown) => DescMessage | undefined;

/** What all of Envoy's and our own messages have before their names. */
const usualPrefix = "type.googleapis.com/";

/** Remembers, by the URL as it is written, the types that it has found: at most all that there are, since only the usual URLs are remembered. */
export function createTypeLookup(registry: Registry): TypeLookup {
  const known = new Map<unknown, DescMessage>();
  return (type) => {
    const found = known.get(type);
    if (found !== undefined || typeof type !== "string") return found;
    const name = type.slice(type.lastIndexOf("/") + 1);
    const schema = registry.getMessage(name);
    if (schema !== undefined && type === usualPrefix + name) known.set(type, schema);
    return schema;
  };
}
