import { z } from "zod";
import { isFields } from "../base/untyped.ts";
import { settingsSchema } from "./schema.ts";

/** One field of a settings file, as its schema says it. */
export interface SettingsField {
  /** `["front", "port"]`; a list's elements are `"[]"`. */
  readonly path: readonly string[];
  readonly type: string;
  readonly text: string;
  readonly usual: string;
  readonly env: readonly string[];
  /** Its name among a Worker's variables; "" where it has none. */
  readonly worker: string;
  readonly isSecret: boolean;
  /** A text that begins with `@` names the file that holds it. */
  readonly takesFile: boolean;
}

/** The schema as JSON Schema, draft 2020-12, for editors. */
export const settingsJsonSchema = (): object => ({
  title: "Portolan's settings",
  ...z.toJSONSchema(settingsSchema, { io: "input" }),
});

/** Every field, in the schema's order. */
export const settingsFields = (): readonly SettingsField[] => fieldsBelow(settingsJsonSchema(), []);

function fieldsBelow(schema: unknown, path: readonly string[]): readonly SettingsField[] {
  if (!isFields(schema)) return [];
  const { properties, items, description } = schema;
  if (typeof description === "string") return [fieldOf(schema, description, path)];
  if (isFields(properties))
    return Object.entries(properties).flatMap(([name, below]) => fieldsBelow(below, [...path, name]));
  return fieldsBelow(items, [...path, "[]"]);
}

function fieldOf(schema: Readonly<Record<string, unknown>>, text: string, path: readonly string[]): SettingsField {
  const { "x-env": env, "x-worker": worker, "x-usual": usual, "x-secret": isSecret, "x-file": takesFile } = schema;
  return {
    path,
    type: typeOf(schema),
    text,
    usual: typeof usual === "string" ? usual : "",
    env: Array.isArray(env) ? env.map(String) : [],
    worker: typeof worker === "string" ? worker : "",
    isSecret: isSecret === true,
    takesFile: takesFile === true && schema.type !== "object",
  };
}

function typeOf({ type, enum: choices, anyOf, items, minimum, maximum }: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(choices)) return choices.map((choice) => `\`${String(choice)}\``).join(", ");
  if (Array.isArray(anyOf)) return anyOf.map((one) => (isFields(one) ? typeOf(one) : "")).join(" or ");
  switch (type) {
    case "integer":
      return `${String(minimum)} to ${String(maximum)}`;
    case "boolean":
      return "true or false";
    case "array":
      return `list of ${isFields(items) ? typeOf(items) : "values"}`;
    case "object":
      return "object";
    default:
      return "text";
  }
}
