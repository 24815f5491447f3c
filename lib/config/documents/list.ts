import { type Fields, isFields } from "../../base/untyped.ts";

/** `kind: List`, or a typed one; without items a server writes `null`. */
export interface List extends Fields {
  readonly kind: string;
  readonly items: readonly unknown[] | null;
}

export function isList(value: unknown): value is List {
  if (!isFields(value) || typeof value.kind !== "string" || !value.kind.endsWith("List")) return false;
  return Array.isArray(value.items) || (value.items === null && value.kind === "List");
}
