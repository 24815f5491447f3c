import { error, type Finding, type Path } from "../finding.ts";
import { nearestName } from "../nearest-name.ts";
import { kubernetesFields } from "./fields.ts";

/** Fields of a type with the types of what they hold: `containers` → `Container[]`. */
type FieldTypes = ReadonlyMap<string, string>;

const types: ReadonlyMap<string, FieldTypes> = new Map(
  kubernetesFields
    .trim()
    .split("\n")
    .map((line): [string, FieldTypes] => {
      const [name = "", fields = ""] = line.split(": ");
      return [name, new Map(fields === "" ? [] : fields.split(", ").map((field) => pair(field)))];
    }),
);

function pair(field: string): [string, string] {
  const [name = "", type = ""] = field.split(" ");
  return [name, type];
}

/**
 * What a value has that its type in Kubernetes has not: unknown fields, and values of another sort. As the API server reads an
 * object, `null` is absent and nothing is converted: `010` is a number, and no text.
 *
 * @param type as `fields.ts` names it, `ServicePort`, `text{}`
 */
export function* structureFindings(value: unknown, type: string, path: Path): Generator<Finding> {
  if (value === null || value === undefined) return;
  if (type.endsWith("[]")) {
    if (!Array.isArray(value)) return yield* wrong(value, path, "a list");
    for (const [index, element] of value.entries()) {
      if (element === null) yield error([...path, index], "null is no element of a list");
      yield* structureFindings(element, type.slice(0, -2), [...path, index]);
    }
    return;
  }
  if (type.endsWith("{}")) {
    if (!isFields(value)) return yield* wrong(value, path, "an object");
    for (const [name, member] of Object.entries(value)) {
      yield* structureFindings(member, type.slice(0, -2), [...path, name]);
    }
    return;
  }
  const fields = types.get(type);
  if (fields === undefined) return yield* scalarFindings(value, type, path);
  if (!isFields(value)) return yield* wrong(value, path, "an object");
  for (const [name, member] of Object.entries(value)) {
    const of = fields.get(name);
    if (of !== undefined) yield* structureFindings(member, of, [...path, name]);
    else if (member !== null) yield unknownField(name, fields, path);
  }
}

function* scalarFindings(value: unknown, type: string, path: Path): Generator<Finding> {
  const isText = typeof value === "string";
  const isWhole = typeof value === "number" && Number.isInteger(value);
  switch (type) {
    case "text":
      if (!isText) yield* wrong(value, path, "a text");
      return;
    case "int":
      if (!isWhole) yield* wrong(value, path, "a whole number");
      return;
    case "flag":
      if (typeof value !== "boolean") yield* wrong(value, path, "true or false");
      return;
    case "intOrText":
      if (!isText && !isWhole) yield* wrong(value, path, "a whole number or a text");
      return;
    case "quantity":
      if (!isText && typeof value !== "number") yield* wrong(value, path, "a quantity such as 500m or 2Gi");
      return;
  }
}

function* wrong(value: unknown, path: Path, wanted: string): Generator<Finding> {
  const isPlain = typeof value !== "object" || value === null;
  const written = isPlain ? JSON.stringify(value) : Array.isArray(value) ? "a list" : "an object";
  const hint = wanted === "a text" && isPlain ? "put it between quotes" : "";
  yield error(path, `${written} must be ${wanted}`, hint);
}

function unknownField(name: string, fields: FieldTypes, path: Path): Finding {
  const known = [...fields.keys()];
  const meant = nearestName(name, known);
  const list = known.length > 12 ? "see Kubernetes' reference for its fields" : `known here: ${known.join(", ")}`;
  const hint = meant === undefined ? list : `did you mean "${meant}"?`;
  return error([...path, name], `unknown field "${name}"`, hint, "unknown-field");
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
