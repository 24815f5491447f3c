import { fieldsOf } from "../../base/untyped.ts";
import type { Finding } from "../finding.ts";

/** The kind that a value states, as every Kubernetes object does and settings do not; "" where it states none. */
export function statedKind(value: unknown): string {
  const { kind } = fieldsOf(value);
  return typeof kind === "string" ? kind : "";
}

/** @param place the file, or what else holds the settings @param kind of the object @param meaning what is read from there */
export function objectInSettings(place: string, kind: string, meaning: string): Finding {
  const article = /^[aeiou]/i.test(kind) ? "an" : "a";
  return {
    code: "object-in-settings",
    severity: "error",
    path: [],
    message: `${place} holds ${article} ${kind}, but ${meaning}`,
    hint: "give the file another name",
  };
}
