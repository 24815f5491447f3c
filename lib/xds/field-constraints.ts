/**
 * The constraints that Envoy's protos carry beside types (`validate.rules`), enforced on JSON whose form is known to be right. The
 * table of a message is made when it is first met, and a message without constraints, and without any within it, costs nothing.
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

/** @returns the first violation: of what is written, in its order, then of what is missing */
export type ConstraintCheck = (schema: DescMessage, json: unknown) => Violation | undefined;

/** Of a value that is there. */
type Check = (value: unknown) => Violation | undefined;

/** The constraints of one message. */
interface Table {
  /** By the field's name in JSON; fields without constraints are not there. */
  readonly written: Map<string, Check[]>;
  /** What a message breaks by not having a field. */
  readonly absent: { readonly field: string; readonly violation: Violation }[];
  readonly oneofs: { readonly fields: readonly string[]; readonly violation: Violation }[];
}

/** @param typeOf the types that an Any may hold */
export function createConstraintCheck(typeOf: TypeLookup): ConstraintCheck {
  // Written by scripts/generate.mjs.
  const all: Readonly<Record<string, MessageConstraints>> = JSON.parse(constraintsText);
  const tables = new Map<DescMessage, Table>();
  const heavy = new Map<DescMessage, boolean>();

  /** Whether a message, or one that may be within it, has constraints. */
  const isHeavy = (schema: DescMessage): boolean => {
    const known = heavy.get(schema);
    if (known !== undefined) return known;
    const seen = new Set<DescMessage>();
    const search = (one: DescMessage): boolean => {
      if (seen.has(one)) return false;
      seen.add(one);
      if (one.typeName === "google.protobuf.Any" || all[one.typeName] !== undefined) return true;
      return one.fields.some((field) => field.message !== undefined && search(field.message));
    };
    const found = search(schema);
    heavy.set(schema, found);
    return found;
  };

  const tableOf = (schema: DescMessage): Table => {
    const known = tables.get(schema);
    if (known !== undefined) return known;
    const table: Table = { written: new Map(), absent: [], oneofs: [] };
    // Messages hold each other: the table is there before its fields are looked at.
    tables.set(schema, table);
    const constraints = all[schema.typeName];
    for (const field of schema.fields) {
      const { jsonName, message } = field;
      const rules = createRuleChecks(field, constraints?.fields[jsonName] ?? {});
      const checks = rules.map((rule) => ofRule(jsonName, rule));
      if (message !== undefined && isHeavy(message)) checks.push(within(field, message));
      if (checks.length > 0) table.written.set(jsonName, checks);
      const missing = firstOf(rules, undefined);
      if (missing !== undefined) table.absent.push({ field: jsonName, violation: { ...missing, path: [jsonName] } });
    }
    for (const { name, fields } of constraints?.oneofs ?? []) {
      const reason = `must have one of ${fields.join(", ")} (${name})`;
      table.oneofs.push({ fields, violation: { path: [], reason } });
    }
    return table;
  };

  const check = (schema: DescMessage, json: unknown): Violation | undefined => {
    if (schema.typeName === "google.protobuf.Any") return ofAny(json);
    if (!isMembers(json)) return undefined;
    const { written, absent, oneofs } = tableOf(schema);
    for (const name in json) {
      const checks = written.get(name);
      if (checks === undefined) continue;
      for (const one of checks) {
        const violation = one(json[name]);
        if (violation !== undefined) return violation;
      }
    }
    for (const { field, violation } of absent) if (json[field] === undefined) return violation;
    for (const { fields, violation } of oneofs)
      if (!fields.some((field) => json[field] !== undefined)) return violation;
    return undefined;
  };

  function ofAny(json: unknown): Violation | undefined {
    const schema = isMembers(json) ? typeOf(json["@type"]) : undefined;
    // Structs and their like stand under `value`, and have no constraints.
    return schema === undefined || schema.typeName.startsWith("google.protobuf.") ? undefined : check(schema, json);
  }

  function within({ jsonName, fieldKind }: DescField, message: DescMessage): Check {
    switch (fieldKind) {
      case "list":
        return (list) => {
          if (!Array.isArray(list)) return undefined;
          for (let i = 0; i < list.length; i += 1) {
            const violation = check(message, list[i]);
            if (violation !== undefined) return behind([jsonName, i], violation);
          }
          return undefined;
        };
      case "map":
        return (map) => {
          if (!isMembers(map)) return undefined;
          for (const key in map) {
            const violation = check(message, map[key]);
            if (violation !== undefined) return behind([jsonName, key], violation);
          }
          return undefined;
        };
      default:
        return (value) => {
          const violation = check(message, value);
          return violation && behind([jsonName], violation);
        };
    }
  }

  return check;
}

const ofRule =
  (jsonName: string, rule: RuleCheck): Check =>
  (value) => {
    const found = rule(value);
    return found && behind([jsonName], found);
  };

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
