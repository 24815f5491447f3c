import { z } from "zod";
import {
  anyDuration,
  double,
  duration,
  flag,
  int32,
  int64,
  struct,
  text,
  uint32,
  uint64,
} from "../../../lib/config/schema/scalars.ts";
import type { Field, ScalarField } from "./field-digest.ts";

const scalar = (type: ScalarField["type"], bounds = "", values: readonly string[] = []): Field => ({
  kind: "scalar",
  type,
  values,
  bounds,
  presence: false,
});

/** Our scalars as OpenAPI has them; a duration that may be zero has no rule there. */
const scalars: ReadonlyMap<unknown, Field> = new Map<unknown, Field>([
  [text, scalar("string")],
  [anyDuration, scalar("string")],
  [duration, scalar("duration")],
  [flag, scalar("boolean")],
  [int32, scalar("integer")],
  [int64, scalar("integer")],
  [uint32, scalar("integer", "0..4294967295")],
  [uint64, scalar("integer", "0..")],
  [double, scalar("number")],
  [struct, scalar("any")],
]);

/** The fields that a schema of ours reads. Presence is not to be seen in it, nor is what its rules require. */
export function schemaFields(schema: z.core.$ZodType): Field {
  const known = scalars.get(schema);
  if (known !== undefined) return known;
  if (schema instanceof z.ZodPipe) return schemaFields(schema.in);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault) {
    return schemaFields(schema.unwrap());
  }
  if (schema instanceof z.ZodArray) return { kind: "list", of: schemaFields(schema.element) };
  if (schema instanceof z.ZodRecord) return { kind: "map", of: schemaFields(schema.valueType) };
  if (schema instanceof z.ZodEnum) return scalar("string", "", schema.options.map(String));
  if (schema instanceof z.ZodString) return scalar("string");
  if (schema instanceof z.ZodUnknown) return scalar("any");
  if (!(schema instanceof z.ZodObject)) throw new Error(`a schema of type ${schema._zod.def.type} was not met before`);
  const members = Object.entries<z.core.$ZodType>(schema.shape);
  return {
    kind: "object",
    fields: new Map(members.map(([name, member]) => [name, schemaFields(member)])),
    required: [],
    oneOf: [],
  };
}

/** What two descriptions of fields say differently, a line for each. */
export function differences(theirs: Field, ours: Field, path: string): readonly string[] {
  if (theirs.kind === "object" && ours.kind === "object") {
    const missing = [...theirs.fields.keys()].filter((name) => !ours.fields.has(name));
    const more = [...ours.fields.keys()].filter((name) => !theirs.fields.has(name));
    return [
      ...missing.map((name) => `${path}.${name} is not read`),
      ...more.map((name) => `${path}.${name} is no field of Istio's`),
      ...[...theirs.fields].flatMap(([name, field]) => {
        const own = ours.fields.get(name);
        return own === undefined ? [] : differences(field, own, `${path}.${name}`);
      }),
    ];
  }
  if (theirs.kind === "scalar" && ours.kind === "scalar") return scalarDifferences(theirs, ours, path);
  if (theirs.kind !== ours.kind || theirs.kind === "scalar" || ours.kind === "scalar") {
    return [`${path} is a ${theirs.kind}, and read as ${ours.kind}`];
  }
  if (theirs.kind === "object" || ours.kind === "object") return [];
  return differences(theirs.of, ours.of, `${path}${theirs.kind === "list" ? "[]" : "{}"}`);
}

/** Bounds that a type has by itself; others are rules of a field. */
const boundsOfTypes: ReadonlySet<string> = new Set(["", "0..4294967295"]);

function scalarDifferences(theirs: ScalarField, ours: ScalarField, path: string): readonly string[] {
  const found: string[] = [];
  if (theirs.type !== ours.type) found.push(`${path} is ${theirs.type}, and read as ${ours.type}`);
  const lacking = theirs.values.filter((value) => !ours.values.includes(value));
  const more = ours.values.filter((value) => !theirs.values.includes(value));
  if (lacking.length > 0) found.push(`${path} may be ${lacking.join(", ")}`);
  if (more.length > 0 && theirs.values.length > 0) found.push(`${path} may not be ${more.join(", ")}`);
  if (more.length > 0 && theirs.values.length === 0) found.push(`${path} may be any text`);
  const typed = theirs.type === "integer" && boundsOfTypes.has(theirs.bounds);
  if (typed && theirs.bounds !== ours.bounds) found.push(`${path} is ${theirs.bounds}, and read as ${ours.bounds}`);
  return found;
}
