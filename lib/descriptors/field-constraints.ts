/**
 * The constraints that Envoy's protos carry beside types (`validate.rules`), enforced on JSON whose form is known to be right. Whether all are
 * kept is seen where the form is (`message-form.ts`); which one is not, here.
 *
 * What is checked is what Envoy checks, and nothing that only a release of it does: an unknown rule is none.
 * @see docs/decisions/013-checked-by-tables.md
 * @see https://github.com/bufbuild/protoc-gen-validate/blob/main/README.md
 */
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { constraintsText } from "../../gen/constraints.ts";
import { createRuleChecks, type FieldRules, type RuleCheck } from "./field-rules.ts";
import type { TypeLookup } from "./type-lookup.ts";

/** Where in a message, in JSON's names. */
export type ConstraintPath = readonly (string | number)[];

/** What a message breaks. */
export interface Violation {
  readonly path: ConstraintPath;
  /** What must hold: `must have at least 1 characters`. */
  readonly reason: string;
}

interface MessageConstraints {
  /** By the field's name in JSON. */
  readonly fields: Readonly<Record<string, FieldRules>>;
  /** Of which one field must be there. */
  readonly oneofs: readonly { readonly name: string; readonly fields: readonly string[] }[];
}

type Members = Readonly<Record<string, unknown>>;

/**
 * @param isPartial whether the message is merged into another one, so that it, and the messages that are one of its fields, may lack what
 *   that one has; elements of lists are added whole
 * @returns the first violation: of what is written, in its order, then of what is missing
 */
export type ConstraintCheck = (schema: DescMessage, json: unknown, isPartial?: boolean) => Violation | undefined;

/** The constraints of one message, apart from those of the messages within it. */
export interface Constraints {
  /** What the value of a field must be, by its name in JSON; fields without constraints are not there. */
  readonly rules: ReadonlyMap<string, readonly RuleCheck[]>;
  /** Names of the fields that must be there, or another one of their oneof. */
  readonly needed: ReadonlySet<string>;
}

export interface ConstraintChecks {
  readonly constraintsOf: (schema: DescMessage) => Constraints;
  readonly violationIn: ConstraintCheck;
}

/** Of a value that is there. */
type Check = (value: unknown, isPartial: boolean) => Violation | undefined;

interface Table extends Constraints {
  /** By the field's name in JSON. */
  readonly within: ReadonlyMap<string, Check>;
  /** What a message breaks by having none of some fields. */
  readonly absent: readonly { readonly fields: readonly string[]; readonly violation: Violation }[];
}

/**
 * Fields of which Envoy needs one for what extends it: no rule of its protos says so, and since 1.17 it finds no extension by its name alone. A
 * filter that is optional may lack them.
 * @see envoy 1.40.0 source/common/config/utility.h
 */
const configFields: Readonly<Record<string, readonly string[]>> = {
  "envoy.config.accesslog.v3.AccessLog": ["typedConfig"],
  "envoy.config.core.v3.TransportSocket": ["typedConfig"],
  "envoy.config.listener.v3.Filter": ["typedConfig", "configDiscovery"],
  "envoy.config.listener.v3.ListenerFilter": ["typedConfig", "configDiscovery"],
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter": ["typedConfig", "configDiscovery"],
};

const withoutConfig = "needs typed_config: Envoy does not look up extensions by their names";

/** @param typeOf the types that an Any may hold */
export function createConstraints(typeOf: TypeLookup): ConstraintChecks {
  // Written by scripts/generate.mjs.
  const all: Readonly<Record<string, MessageConstraints>> = JSON.parse(constraintsText);
  const tables = new Map<DescMessage, Table>();

  const tableOf = (schema: DescMessage): Table => {
    const known = tables.get(schema);
    if (known !== undefined) return known;
    const { fields = {}, oneofs = [] } = all[schema.typeName] ?? {};
    const rules = new Map<string, readonly RuleCheck[]>();
    const within = new Map<string, Check>();
    const absent: { readonly fields: readonly string[]; readonly violation: Violation }[] = [];
    for (const field of schema.fields) {
      const { jsonName, message } = field;
      const checks = createRuleChecks(field, fields[jsonName] ?? {});
      if (checks.length > 0) rules.set(jsonName, checks);
      if (message !== undefined) within.set(jsonName, ofMessages(field, message));
      const missing = firstOf(checks, undefined);
      if (missing !== undefined) absent.push({ fields: [jsonName], violation: behind([jsonName], missing) });
    }
    for (const { name, fields } of oneofs) {
      const reason = `must have one of ${fields.join(", ")} (${name})`;
      absent.push({ fields, violation: { path: [], reason } });
    }
    const config = configFields[schema.typeName] ?? [];
    const needed = new Set([...absent.flatMap(({ fields }) => fields), ...config]);
    if (config.length > 0)
      absent.push({ fields: [...config, "isOptional"], violation: { path: [], reason: withoutConfig } });
    const table = { rules, within, absent, needed };
    tables.set(schema, table);
    return table;
  };

  const check: ConstraintCheck = (schema, json, isPartial = false) => {
    if (schema.typeName === "google.protobuf.Any") return ofAny(json, isPartial);
    if (!isMembers(json)) return undefined;
    const { rules, within, absent } = tableOf(schema);
    for (const name in json) {
      const broken = firstOf(rules.get(name) ?? [], json[name]);
      const violation = broken ?? within.get(name)?.(json[name], isPartial);
      if (violation !== undefined) return behind([name], violation);
    }
    return isPartial
      ? undefined
      : absent.find(({ fields }) => !fields.some((field) => json[field] !== undefined))?.violation;
  };

  function ofAny(json: unknown, isPartial: boolean): Violation | undefined {
    const schema = isMembers(json) ? typeOf(json["@type"]) : undefined;
    // Structs and their like stand under `value`, and have no constraints.
    return schema === undefined || schema.typeName.startsWith("google.protobuf.")
      ? undefined
      : check(schema, json, isPartial);
  }

  function ofMessages({ fieldKind }: DescField, message: DescMessage): Check {
    switch (fieldKind) {
      case "list":
        return (list) => {
          if (!Array.isArray(list)) return undefined;
          for (const [i, element] of list.entries()) {
            const violation = check(message, element);
            if (violation !== undefined) return behind([i], violation);
          }
          return undefined;
        };
      case "map":
        return (map) => {
          if (!isMembers(map)) return undefined;
          for (const key in map) {
            const violation = check(message, map[key]);
            if (violation !== undefined) return behind([key], violation);
          }
          return undefined;
        };
      default:
        return (value, isPartial) => check(message, value, isPartial);
    }
  }

  return { constraintsOf: tableOf, violationIn: check };
}

function firstOf(rules: readonly RuleCheck[], value: unknown): Violation | undefined {
  for (const rule of rules) {
    const found = rule(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

const behind = (path: ConstraintPath, violation: Violation): Violation => ({
  ...violation,
  path: [...path, ...violation.path],
});

const isMembers = (json: unknown): json is Members => typeof json === "object" && json !== null && !Array.isArray(json);
