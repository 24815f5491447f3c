/**
 * The fields of Istio's kinds as its CustomResourceDefinitions state them, in a text that people can read and compare: a line a
 * field, indented below the field that holds it.
 *
 *     hosts[] string               a list; `labels{} string` is a map
 *     port! integer 0..65535       must be there
 *     enabled boolean?             null is not false: a wrapper, or optional
 *     mode enum DISABLE SIMPLE
 *     match[] one of exact prefix  at most one of these members
 *     tls = Gateway.servers.tls    the same fields as those
 */
export type Field = ScalarField | ObjectField | ManyField;

export interface ScalarField {
  readonly kind: "scalar";
  readonly type: "string" | "duration" | "boolean" | "integer" | "number" | "any";
  /** Empty: any value of the type. */
  readonly values: readonly string[];
  /** `0..65535`; either end may be missing; "" for no bounds. */
  readonly bounds: string;
  /** Zero means something else than absent. */
  readonly presence: boolean;
}

export interface ManyField {
  readonly kind: "list" | "map";
  readonly of: Field;
}

export interface ObjectField {
  readonly kind: "object";
  readonly fields: ReadonlyMap<string, Field>;
  readonly required: readonly string[];
  /** Groups of members that exclude each other. */
  readonly oneOf: readonly (readonly string[])[];
}

/** One kind: its header and its spec. */
export interface KindFields {
  readonly kind: string;
  readonly group: string;
  readonly versions: readonly string[];
  readonly spec: Field;
}

/** As much of an OpenAPI schema as a CustomResourceDefinition has of it. */
export interface OpenApi {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, OpenApi>>;
  readonly additionalProperties?: OpenApi;
  readonly items?: OpenApi;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly nullable?: boolean;
  readonly not?: OpenApi;
  readonly anyOf?: readonly OpenApi[];
  readonly oneOf?: readonly OpenApi[];
  readonly allOf?: readonly OpenApi[];
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-validations"?: readonly { readonly rule: string }[];
}

export interface Crd {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: OpenApi } } };
    }[];
  };
}

/** What a CustomResourceDefinition says of its kind. Istio's versions of a kind have one schema. */
export function kindFields({ spec: { group, names, versions } }: Crd): KindFields {
  const [first] = versions;
  if (first === undefined) throw new Error(`${names.kind} has no version`);
  return {
    kind: names.kind,
    group,
    versions: versions.map(({ name }) => name),
    spec: fieldOf(first.schema.openAPIV3Schema.properties.spec),
  };
}

export function fieldOf(schema: OpenApi): Field {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return scalar("any", schema);
  switch (schema.type) {
    case "array":
      return { kind: "list", of: fieldOf(schema.items ?? {}) };
    case "object":
      if (schema.additionalProperties !== undefined) return { kind: "map", of: fieldOf(schema.additionalProperties) };
      return objectOf(schema);
    case "integer":
    case "number":
    case "boolean":
      return scalar(schema.type, schema);
    default: {
      const rules = schema["x-kubernetes-validations"] ?? [];
      return scalar(rules.some(({ rule }) => rule.includes("duration(self)")) ? "duration" : "string", schema);
    }
  }
}

function scalar(type: ScalarField["type"], schema: OpenApi): Field {
  const { minimum, maximum } = schema;
  const bounds = minimum === undefined && maximum === undefined ? "" : `${minimum ?? ""}..${maximum ?? ""}`;
  return { kind: "scalar", type, values: schema.enum ?? [], bounds, presence: schema.nullable === true };
}

function objectOf(schema: OpenApi): Field {
  // The same fields once more, as they were once spelled.
  const members = Object.entries(schema.properties ?? {}).filter(([name]) => !name.includes("_"));
  return {
    kind: "object",
    fields: new Map(members.map(([name, member]) => [name, fieldOf(member)])),
    required: schema.required ?? [],
    oneOf: [...(schema.oneOf === undefined ? [] : [schema]), ...(schema.allOf ?? [])].map(alternatives),
  };
}

/** The members of `oneOf`, which names those of its last alternatives: none of them is the first. */
function alternatives({ oneOf = [] }: OpenApi): readonly string[] {
  return oneOf.flatMap(({ required = [] }) => required);
}

/** Objects with fewer fields, at all depths, stand again where they are; others are written once. */
const sharedFrom = 4;

/** Writes kinds as text. */
export function writeDigest(kinds: readonly KindFields[]): string {
  const places = new Map<string, string>();
  const blocks = kinds.map(({ kind, group, versions, spec }) => {
    const lines = spec.kind === "object" ? membersText(spec, kind, "  ", places) : [];
    return [`${kind} ${group} ${versions.join(" ")}${endOf(spec)}`, ...lines].join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}

function membersText(
  { fields, required }: ObjectField,
  place: string,
  indent: string,
  places: Map<string, string>,
): readonly string[] {
  return [...fields].flatMap(([name, field]) => {
    const { suffix, inner } = unwrapped(field);
    const head = `${indent}${name}${suffix}${required.includes(name) ? "!" : ""}`;
    if (inner.kind !== "object") return [`${head} ${scalarText(inner)}`];
    const here = `${place}.${name}`;
    const text = JSON.stringify(plain(inner));
    const there = places.get(text);
    if (there !== undefined) return [`${head} = ${there}`];
    if (sizeOf(inner) >= sharedFrom) places.set(text, here);
    return [`${head}${endOf(inner)}`, ...membersText(inner, here, `${indent}  `, places)];
  });
}

function unwrapped(field: Field): { readonly suffix: string; readonly inner: ScalarField | ObjectField } {
  if (field.kind === "scalar" || field.kind === "object") return { suffix: "", inner: field };
  const { suffix, inner } = unwrapped(field.of);
  return { suffix: `${field.kind === "list" ? "[]" : "{}"}${suffix}`, inner };
}

const endOf = (field: Field): string =>
  field.kind === "object" ? field.oneOf.map((names) => ` one of ${names.join(" ")}`).join(",") : "";

function scalarText({ type, values, bounds, presence }: ScalarField): string {
  const text = values.length > 0 ? `enum ${values.map((value) => value || '""').join(" ")}` : type;
  return `${text}${presence ? "?" : ""}${bounds === "" ? "" : ` ${bounds}`}`;
}

const sizeOf = (field: Field): number => {
  if (field.kind === "scalar") return 1;
  if (field.kind !== "object") return sizeOf(field.of);
  return [...field.fields.values()].reduce((sum, member) => sum + sizeOf(member), 1);
};

/** As JSON can write it. */
function plain(field: Field): unknown {
  if (field.kind === "scalar") return field;
  if (field.kind !== "object") return { kind: field.kind, of: plain(field.of) };
  return { ...field, fields: [...field.fields].map(([name, member]) => [name, plain(member)]) };
}

/** A line of a digest, taken apart. */
interface Line {
  readonly depth: number;
  readonly name: string;
  readonly suffix: string;
  readonly required: boolean;
  readonly rest: string;
}

/** Reads what `writeDigest` wrote. */
export function readDigest(text: string): readonly KindFields[] {
  const known = new Map<string, Field>();
  return text
    .trim()
    .split("\n\n")
    .map((block) => {
      const [head = "", ...lines] = block.split("\n");
      const [header = "", ...oneOf] = head.split(/,? one of /);
      const [kind = "", group = "", ...versions] = header.split(" ");
      const spec = readObject(lines.map(readLine), kind, oneOf, known);
      return { kind, group, versions, spec };
    });
}

function readLine(line: string): Line {
  const match = /^( +)([^[{! ]+)((?:\[\]|\{\})*)(!?) ?(.*)$/.exec(line);
  if (match === null) throw new Error(`this is no line of a digest: ${line}`);
  const [, indent = "", name = "", suffix = "", required, rest = ""] = match;
  return { depth: indent.length / 2, name, suffix, required: required === "!", rest };
}

function readObject(
  lines: readonly Line[],
  place: string,
  oneOf: readonly string[],
  known: Map<string, Field>,
): ObjectField {
  const fields = new Map<string, Field>();
  const required: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.depth !== lines[0]?.depth) continue;
    const end = lines.findIndex(({ depth }, at) => at > index && depth <= line.depth);
    const below = lines.slice(index + 1, end < 0 ? lines.length : end);
    const here = `${place}.${line.name}`;
    const inner = readInner(line.rest, below, here, known);
    known.set(here, inner);
    fields.set(line.name, wrapped(inner, line.suffix));
    if (line.required) required.push(line.name);
  }
  return { kind: "object", fields, required, oneOf: oneOf.map((names) => names.split(" ")) };
}

function readInner(rest: string, below: readonly Line[], here: string, known: Map<string, Field>): Field {
  if (rest.startsWith("= ")) {
    const there = known.get(rest.slice(2));
    if (there === undefined) throw new Error(`${here} is the same as ${rest.slice(2)}, which is not there`);
    return there;
  }
  if (rest === "" || rest.startsWith("one of ")) {
    return readObject(below, here, ` ${rest}`.split(/,? one of /).slice(1), known);
  }
  const match = /^(enum (?<values>[^?]+?)|(?<type>[a-z]+))(?<presence>\?)?(?: (?<bounds>\S*\.\.\S*))?$/.exec(rest);
  const { values = "", type = "string", presence, bounds = "" } = match?.groups ?? {};
  const named = (["string", "duration", "boolean", "integer", "number", "any"] as const).find((one) => one === type);
  if (named === undefined) throw new Error(`${here} has no type: ${rest}`);
  const listed = values === "" ? [] : values.split(" ").map((value) => (value === '""' ? "" : value));
  return { kind: "scalar", type: named, values: listed, bounds, presence: presence !== undefined };
}

function wrapped(inner: Field, suffix: string): Field {
  return (suffix.match(/\[\]|\{\}/g) ?? []).reduceRight<Field>(
    (field, part) => ({ kind: part === "[]" ? "list" : "map", of: field }),
    inner,
  );
}
