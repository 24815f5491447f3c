import { isObject, type Json } from "../json.ts";

/** Stands in for a part: `{$ref: tracing-3fa29c1d}`. No JSON of a protobuf message has such a key. */
export const referenceTo = (part: string): Json => ({ $ref: part });

/** The part that a value stands in for; undefined for a value that stands for itself. */
export function referredPart(value: Json): string | undefined {
  return isObject(value) && typeof value.$ref === "string" ? value.$ref : undefined;
}
