import { nearestName } from "../../base/nearest-name.ts";
import { isFields } from "../../base/untyped.ts";
import { error, type Finding, maxFindings, type Path } from "../finding.ts";
import { kubernetesFields } from "./fields.ts";

type Scalar = "text" | "int" | "number" | "flag" | "any" | "intOrText" | "quantity";

/** What a field may hold. */
type Type =
  | { readonly of: "scalar"; readonly scalar: Scalar }
  | { readonly of: "list"; readonly each: Type }
  | { readonly of: "map"; readonly each: Type }
  | { readonly of: "object"; readonly fields: Map<string, Type> };

const scalars: readonly Scalar[] = ["text", "int", "number", "flag", "any", "intOrText", "quantity"];

/** Types by name; types name one another, so that their fields come after all of them. */
const types: ReadonlyMap<string, Type> = typesOf(kubernetesFields.trim().split("\n"));

function typesOf(lines: readonly string[]): ReadonlyMap<string, Type> {
  const rows = lines.map((line) => line.split(": "));
  const objects = new Map(
    rows.map(([name = ""]) => [name, { of: "object", fields: new Map<string, Type>() } as const] as const),
  );
  const all = new Map<string, Type>([
    ...objects,
    ...scalars.map((scalar) => [scalar, { of: "scalar", scalar }] as const),
  ]);
  for (const [name = "", fields = ""] of rows) {
    for (const field of fields === "" ? [] : fields.split(", ")) {
      const [key = "", type = ""] = field.split(" ");
      objects.get(name)?.fields.set(key, typeNamed(type, all));
    }
  }
  return all;
}

/** `Container[]`, `text{}`, `PodSpec`. */
function typeNamed(name: string, all: ReadonlyMap<string, Type>): Type {
  if (name.endsWith("[]")) return { of: "list", each: typeNamed(name.slice(0, -2), all) };
  if (name.endsWith("{}")) return { of: "map", each: typeNamed(name.slice(0, -2), all) };
  return all.get(name) ?? { of: "scalar", scalar: "any" };
}

/**
 * What a value has that its type in Kubernetes has not: unknown fields, and values of another sort. As the API server reads an
 * object, `null` is absent and nothing is converted: `010` is a number, and no text.
 *
 * @param typeName as `fields.ts` names it, `ServicePort`
 * @param apart fields of the value that nobody looks at, such as the origin of an object, which is no part of what was written
 */
export function structureFindings(
  value: unknown,
  typeName: string,
  path: Path,
  apart: readonly string[] = noNames,
): readonly Finding[] {
  const findings: Finding[] = [];
  collect(value, typeNamed(typeName, types), [...path], findings, apart);
  return findings;
}

const noNames: readonly string[] = [];

/** @param path of the value; the same list goes down and comes back, since every object of a source passes here */
function collect(
  value: unknown,
  type: Type,
  path: (string | number)[],
  findings: Finding[],
  apart: readonly string[] = noNames,
): void {
  if (value === null || value === undefined) return;
  switch (type.of) {
    case "scalar": {
      const wanted = isScalar(value, type.scalar) ? undefined : wordsFor[type.scalar];
      if (wanted !== undefined) findings.push(wrong(value, path, wanted));
      return;
    }
    case "list":
      if (!Array.isArray(value)) {
        findings.push(wrong(value, path, "a list"));
        return;
      }
      for (let at = 0; at < value.length; at++) {
        path.push(at);
        if (value[at] === null) findings.push(error([...path], "null is no element of a list"));
        collect(value[at], type.each, path, findings);
        path.pop();
      }
      return;
    case "map":
    case "object":
      if (!isFields(value)) {
        findings.push(wrong(value, path, "an object"));
        return;
      }
      for (const name in value) {
        if (apart.length > 0 && apart.includes(name)) continue;
        const of = type.of === "map" ? type.each : type.fields.get(name);
        // Most members are plain and right: they take no way down.
        if (of?.of === "scalar" && isScalar(value[name], of.scalar)) continue;
        path.push(name);
        if (of !== undefined) collect(value[name], of, path, findings);
        else if (type.of === "object" && value[name] !== null)
          findings.push(unknownField(name, type, path, findings.length < maxFindings));
        path.pop();
      }
  }
}

function isScalar(value: unknown, scalar: Scalar): boolean {
  switch (scalar) {
    case "text":
      return typeof value === "string";
    case "int":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number";
    case "flag":
      return typeof value === "boolean";
    case "intOrText":
      return typeof value === "string" || Number.isInteger(value);
    case "quantity":
      return typeof value === "string" || typeof value === "number";
    case "any":
      return true;
  }
}

const wordsFor: Readonly<Record<Scalar, string>> = {
  text: "a text",
  int: "a whole number",
  number: "a number",
  flag: "true or false",
  intOrText: "a whole number or a text",
  quantity: "a quantity such as 500m or 2Gi",
  any: "",
};

function wrong(value: unknown, path: Path, wanted: string): Finding {
  const isPlain = typeof value !== "object" || value === null;
  const written = isPlain ? JSON.stringify(value) : Array.isArray(value) ? "a list" : "an object";
  const hint = wanted === "a text" && isPlain ? "put it between quotes" : "";
  return error([...path], `${written} must be ${wanted}`, hint);
}

/**
 * @param path of the field
 * @param guesses whether to look for the field that was meant: for as many as are reported of one object
 */
function unknownField(
  name: string,
  { fields }: Extract<Type, { readonly of: "object" }>,
  path: Path,
  guesses: boolean,
): Finding {
  const known = [...fields.keys()];
  const meant = guesses ? nearestName(name, known) : undefined;
  const list = known.length > 12 ? "see Kubernetes' reference for its fields" : `known here: ${known.join(", ")}`;
  const hint = meant === undefined ? list : `did you mean "${meant}"?`;
  return error([...path], `unknown field "${name}"`, hint, "unknown-field");
}
