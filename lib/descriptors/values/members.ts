import type { JsonValue } from "@bufbuild/protobuf";

/** An object of JSON. */
export type Members = { readonly [name: string]: JsonValue };

export const isMembers = (json: JsonValue | undefined): json is { [name: string]: JsonValue } =>
  typeof json === "object" && json !== null && !Array.isArray(json);
