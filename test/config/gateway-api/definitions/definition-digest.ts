import { fieldsOf, isFields } from "../../../../lib/base/untyped.ts";

/**
 * The fields of the Gateway API's kinds as its CustomResourceDefinitions state them, a line a field: its path, its type, and what
 * else the schema says of it, as JSON. `[]` is the element of a list, `{}` that of a map.
 *
 *     HTTPRoute gateway.networking.k8s.io v1 v1beta1
 *       spec.hostnames array {"maxItems":16}
 *       spec.hostnames[] string {"maxLength":253,"minLength":1,"pattern":3}
 */
export interface DefinedKind {
  readonly kind: string;
  readonly group: string;
  /** The newest first: it is the one whose fields these are. */
  readonly versions: readonly string[];
  readonly fields: readonly DefinedField[];
}

export interface DefinedField {
  /** `spec.hostnames[]` */
  readonly path: string;
  readonly type: string;
  readonly says: FieldConstraints;
}

/** What a schema says of a value, in OpenAPI's words; of an object which members it must have. */
export interface FieldConstraints {
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly maximum?: number;
  readonly minimum?: number;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly "x-kubernetes-list-type"?: "atomic" | "map" | "set";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
}

const kept: ReadonlySet<string> = new Set([
  "default",
  "enum",
  "maximum",
  "minimum",
  "maxItems",
  "minItems",
  "maxLength",
  "minLength",
  "maxProperties",
  "minProperties",
  "pattern",
  "required",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  // Rules do what these say; here they tell that a release says more.
  "oneOf",
  "anyOf",
  "allOf",
  "not",
]);

/** As much of a CustomResourceDefinition as is looked at. */
export interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec?: object } } };
    }[];
  };
}

export function definedKind({ spec: { group, names, versions } }: Definition): DefinedKind {
  const [newest, ...others] = [...versions].sort((a, b) => age(b.name) - age(a.name));
  if (newest === undefined) throw new Error(`${names.kind} has no version`);
  return {
    kind: names.kind,
    group,
    versions: [newest, ...others].map(({ name }) => name),
    fields: fieldsBelow("spec", newest.schema.openAPIV3Schema.properties.spec ?? {}),
  };
}

/** `v1alpha3` < `v1beta1` < `v1`. */
const age = (version: string): number => {
  const [, major = "0", stage = "", minor = "0"] = /^v(\d+)(alpha|beta)?(\d+)?$/.exec(version) ?? [];
  return Number(major) * 10_000 + (stage === "alpha" ? 0 : stage === "beta" ? 100 : 1_000) + Number(minor);
};

function fieldsBelow(path: string, schema: object): readonly DefinedField[] {
  const { type = "any", properties, items, additionalProperties } = fieldsOf(schema);
  const says: FieldConstraints = Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => kept.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const members = isFields(properties) ? Object.entries(properties) : [];
  return [
    { path, type: String(type), says },
    ...members.flatMap(([name, member]) => (isFields(member) ? fieldsBelow(`${path}.${name}`, member) : [])),
    ...(isFields(items) ? fieldsBelow(`${path}[]`, items) : []),
    ...(isFields(additionalProperties) ? fieldsBelow(`${path}{}`, additionalProperties) : []),
  ];
}

/** Patterns stand at the beginning, each once: many fields have the same. */
export function writeDefinitions(kinds: readonly DefinedKind[]): string {
  const patterns = [...new Set(kinds.flatMap(({ fields }) => fields.flatMap(({ says }) => says.pattern ?? [])))].sort();
  const blocks = kinds.map(({ kind, group, versions, fields }) => {
    const lines = fields.map(({ path, type, says: { pattern, ...others } }) => {
      const named = pattern === undefined ? others : { ...others, pattern: patterns.indexOf(pattern) };
      return `  ${path} ${type}${Object.keys(named).length === 0 ? "" : ` ${JSON.stringify(named)}`}`;
    });
    return [`${kind} ${group} ${versions.join(" ")}`, ...lines].join("\n");
  });
  return `${[["patterns", ...patterns].join("\n"), ...blocks].join("\n\n")}\n`;
}

/** Reads what `writeDefinitions` wrote. */
export function readDefinitions(text: string): readonly DefinedKind[] {
  const [first = "", ...blocks] = text.trim().split("\n\n");
  const patterns = first.split("\n").slice(1);
  return blocks.map((block) => {
    const [head = "", ...lines] = block.split("\n");
    const [kind = "", group = "", ...versions] = head.split(" ");
    return { kind, group, versions, fields: lines.map((line) => readField(line, patterns)) };
  });
}

function readField(line: string, patterns: readonly string[]): DefinedField {
  const match = /^ {2}(\S+) (\S+)(?: (.*))?$/.exec(line);
  if (match === null) throw new Error(`this is no line of a digest: ${line}`);
  const [, path = "", type = "", text = "{}"] = match;
  const { pattern, ...others } = JSON.parse(text);
  const named = patterns[pattern];
  return { path, type, says: { ...others, ...(named === undefined ? {} : { pattern: named }) } };
}
