import { z } from "zod";

/** What may stand at a place of an object, as far as random values and paths need it. */
export type Shape =
  | {
      readonly kind: "message";
      readonly fields: ReadonlyMap<string, Shape>;
      /** Fields that must be written. */
      readonly required: ReadonlySet<string>;
    }
  | { readonly kind: "list"; readonly element: Shape }
  | { readonly kind: "map"; readonly value: Shape }
  | { readonly kind: "enum"; readonly values: readonly string[] }
  | { readonly kind: "flag" | "number" | "text" | "duration" | "free" };

type ReadShape = (schema: z.core.$ZodType) => Shape;

/** Reads the shapes of schemas; the same object for the same schema, wherever it is used. */
export function createShapeReader(): ReadShape {
  const known = new Map<z.core.$ZodType, Shape>();
  const read: ReadShape = (schema) => {
    const shape = known.get(schema) ?? shapeOf(schema, read);
    known.set(schema, shape);
    return shape;
  };
  return read;
}

function shapeOf(schema: z.core.$ZodType, read: ReadShape): Shape {
  if (schema instanceof z.ZodPipe) return schema.in instanceof z.ZodString ? { kind: "duration" } : read(schema.in);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault)
    return read(schema.unwrap());
  if (schema instanceof z.ZodObject) return messageOf(Object.entries<z.core.$ZodType>(schema.shape), read);
  if (schema instanceof z.ZodArray) return { kind: "list", element: read(schema.element) };
  if (schema instanceof z.ZodRecord) return { kind: "map", value: read(schema.valueType) };
  if (schema instanceof z.ZodUnion) return eitherOf(schema.options.map(read));
  if (schema instanceof z.ZodEnum) return { kind: "enum", values: schema.options.map(String) };
  if (schema instanceof z.ZodBoolean) return { kind: "flag" };
  if (schema instanceof z.ZodNumber) return { kind: "number" };
  if (schema instanceof z.ZodString) return { kind: "text" };
  if (schema instanceof z.ZodUnknown) return { kind: "free" };
  throw new Error(`no shape for a schema of type ${schema._zod.def.type}`);
}

function messageOf(entries: readonly (readonly [string, z.core.$ZodType])[], read: ReadShape): Shape {
  const isRequired = ([, schema]: readonly [string, z.core.$ZodType]) =>
    !(schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault);
  return {
    kind: "message",
    fields: new Map(entries.map(([name, schema]) => [name, read(schema)])),
    required: new Set(entries.filter(isRequired).map(([name]) => name)),
  };
}

/** Messages of several forms count as one with all of their fields; of scalars that may be written in two ways the first counts. */
function eitherOf(shapes: readonly Shape[]): Shape {
  const messages = shapes.filter((shape) => shape.kind === "message");
  if (messages.length > 1)
    return { kind: "message", fields: new Map(messages.flatMap(({ fields }) => [...fields])), required: new Set() };
  const [first] = shapes;
  if (first === undefined) throw new Error("a union of nothing");
  return first;
}

/**
 * A place in an object: names of fields, `[]` for the elements of a list and `{}` for the values of a map; as a text
 * `spec.http.[].headers.{}.exact`.
 */
export type FieldPath = readonly string[];

/** The places that hold a value and nothing below: scalars, lists and maps of them, free-form parts, messages without fields. */
export function leavesOf(shape: Shape): readonly FieldPath[] {
  switch (shape.kind) {
    case "message":
      if (shape.fields.size === 0) return [[]];
      return [...shape.fields].flatMap(([name, field]) => leavesOf(field).map((path) => [name, ...path]));
    case "list":
      return leavesOf(shape.element).map((path) => ["[]", ...path]);
    case "map":
      // A Struct has no places that anybody knows.
      return shape.value.kind === "free" ? [[]] : leavesOf(shape.value).map((path) => ["{}", ...path]);
    default:
      return [[]];
  }
}
