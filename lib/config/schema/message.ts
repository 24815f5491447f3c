import { z } from "zod";

type Shape = Readonly<Record<string, z.ZodType>>;
type Outputs<S extends Shape> = { readonly [Name in keyof S]: z.output<S[Name]> };

/** What a message reads as: required fields are there, the others only where they say something. */
export type Message<R extends Shape, P extends Shape, K extends Shape> = Outputs<R> &
  Partial<Outputs<P>> &
  Partial<Outputs<K>>;

/**
 * Schema of one protobuf message in proto JSON: unknown fields are refused, output has the fields in declared order.
 *
 * @param fields `required`: must be there, unless its schema has a default; `plain`: scalars, enums, lists and maps without
 *   presence, whose zero value reads as absent; `kept`: messages, wrappers and members of oneofs, where presence says something
 */
export function message<R extends Shape = Shape, P extends Shape = Shape, K extends Shape = Shape>(fields: {
  readonly required?: R;
  readonly plain?: P;
  readonly kept?: K;
}): z.ZodType<Message<R, P, K>> {
  const plain = Object.keys(fields.plain ?? {});
  const shape = { ...fields.required, ...optional(fields.plain), ...optional(fields.kept) };
  const object = z.strictObject(shape);
  const schema =
    plain.length === 0
      ? object
      : object.transform((value: Record<string, unknown>) => {
          for (const name of plain) if (isZero(value[name])) delete value[name];
          return value;
        });
  // The shape is assembled at run time, so its type is stated here, once, instead of being inferred.
  return schema as unknown as z.ZodType<Message<R, P, K>>;
}

function optional(shape: Shape | undefined): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(shape ?? {}).map(([name, schema]) => [name, z.exactOptional(schema)]));
}

function isZero(value: unknown): boolean {
  if (value === "" || value === 0 || value === false) return true;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/**
 * Names of the fields that a schema knows at a path of a value; empty where it knows none (scalars, free-form parts).
 * Slow: for diagnostics only.
 */
export function fieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  const inner = unwrap(schema);
  const [step, ...rest] = path;
  if (inner instanceof z.ZodObject) {
    if (step === undefined) return Object.keys(inner.shape);
    const next: unknown = inner.shape[String(step)];
    return next instanceof z.ZodType ? fieldsAt(next, rest) : [];
  }
  if (step === undefined) return [];
  if (inner instanceof z.ZodArray) return fieldsAt(inner.element, rest);
  if (inner instanceof z.ZodRecord) return fieldsAt(inner.valueType, rest);
  return [];
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return unwrap(schema.in);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault) {
    return unwrap(schema.unwrap());
  }
  return schema;
}
