import type { z } from "zod";
import { nearestName } from "../base/nearest-name.ts";
import { error, type Finding, maxFindings, type Path, warning } from "./finding.ts";
import { fieldsAt } from "./schema/message.ts";

export interface SpecReading<Spec> {
  /** undefined when some finding is an error. */
  readonly spec: Spec | undefined;
  /** Paths begin at the value that was read. */
  readonly findings: readonly Finding[];
}

/** Nesting beyond which a value is left to its schema as it is; schemas never recurse that far. */
const maxDepth = 100;

export interface SpecOptions {
  /** `refuse`: an unknown field is an error, as kubectl has it; `ignore`: a warning, as the server has it. */
  readonly unknownFields: "refuse" | "ignore";
  /** Fields whose `null` means an empty message, as very old decoders had it. */
  readonly emptyWhenNull: readonly string[];
}

/** Reads an untrusted value as proto JSON: `null` fields are absent, and field names may be written in snake_case. */
export function readSpec<Spec>(schema: z.ZodType<Spec>, raw: unknown, options: SpecOptions): SpecReading<Spec> {
  const { unknownFields, emptyWhenNull } = options;
  const written = withoutNulls(raw ?? {}, emptyWhenNull, 0);
  const first = schema.safeParse(written, { reportInput: true });
  if (first.success) return { spec: first.data, findings: [] };

  const renamed = renameSnakeCase(schema, written, first.error.issues);
  const second = renamed === written ? first : schema.safeParse(renamed, { reportInput: true });
  if (second.success) return { spec: second.data, findings: [] };
  const findings = findingsOfAll(schema, second.error.issues);
  if (unknownFields === "refuse") return { spec: undefined, findings };

  const known = mapUnknown(schema, renamed, second.error.issues, () => undefined);
  const third = schema.safeParse(known);
  return {
    spec: third.success ? third.data : undefined,
    findings: findings.map((finding) =>
      finding.code === "unknown-field" ? warning(finding.path, finding.message, finding.hint, finding.code) : finding,
    ),
  };
}

/** Fields with values of any form, which keep their nulls: of a plugin, and of a patch of an EnvoyFilter. */
const freeForm: ReadonlySet<string> = new Set(["pluginConfig", "value"]);

/** Drops null members of objects; copies only what it changes. List elements stay, because a null there is an error. */
function withoutNulls(value: unknown, emptyWhenNull: readonly string[], depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > maxDepth) return value;
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (const [index, element] of value.entries()) {
      const kept = withoutNulls(element, emptyWhenNull, depth + 1);
      if (kept === element) continue;
      copy ??= [...value];
      copy[index] = kept;
    }
    return copy ?? value;
  }
  let copy: Record<string, unknown> | undefined;
  for (const [name, member] of Object.entries(value)) {
    const kept = freeForm.has(name) ? member : withoutNulls(member, emptyWhenNull, depth + 1);
    if (kept === member && member !== null) continue;
    copy ??= { ...value };
    if (member === null && emptyWhenNull.includes(name)) copy[name] = {};
    else if (member === null) delete copy[name];
    else copy[name] = kept;
  }
  return copy ?? value;
}

/**
 * Gives the unknown fields that the issues name other names, or drops them.
 *
 * @param rename new name of a field among those known beside it; undefined drops it
 */
function mapUnknown(
  schema: z.ZodType,
  value: unknown,
  issues: readonly z.core.$ZodIssue[],
  rename: (name: string, known: readonly string[]) => string | undefined,
): unknown {
  const edits = noEdits();
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    const known = fieldsAt(schema, issue.path);
    let place = edits;
    for (const step of issue.path) {
      const below = place.below.get(step) ?? noEdits();
      place.below.set(step, below);
      place = below;
    }
    const unknown = new Set(issue.keys);
    const { rename: before } = place;
    place.rename = (written) => {
      const name = before(written);
      return name !== undefined && unknown.has(name) ? rename(name, known) : name;
    };
  }
  return edited(value, edits);
}

/** What to rename in a value and in what lies below it: gathered first, so that each list and object is copied once. */
interface Edits {
  /** New name of a field; undefined drops it. */
  rename: (name: string) => string | undefined;
  readonly below: Map<PropertyKey, Edits>;
}

const noEdits = (): Edits => ({ rename: (name) => name, below: new Map() });

function edited(value: unknown, { rename, below }: Edits): unknown {
  if (typeof value !== "object" || value === null) return value;
  const member = (step: PropertyKey, part: unknown): unknown => {
    const edits = below.get(step);
    return edits === undefined ? part : edited(part, edits);
  };
  if (Array.isArray(value)) return value.map((element: unknown, index) => member(index, element));
  const copy: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) {
    const to = rename(name);
    // Of a field that is written in two ways neither may be lost without a word: one of them stays unknown.
    const isTwice = to !== undefined && to !== name && (Object.hasOwn(value, to) || Object.hasOwn(copy, to));
    if (to !== undefined) copy[isTwice ? name : to] = member(name, part);
  }
  return copy;
}

/** Renames level by level, because what is below an unknown field is only seen under its right name. */
function renameSnakeCase(schema: z.ZodType, written: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  let value = written;
  let left = issues;
  while (left.some((issue) => issue.code === "unrecognized_keys" && issue.keys.some((name) => name.includes("_")))) {
    const before = JSON.stringify(value);
    value = mapUnknown(schema, value, left, camelCase);
    if (JSON.stringify(value) === before) break;
    left = schema.safeParse(value).error?.issues ?? [];
  }
  return value;
}

function camelCase(name: string, known: readonly string[]): string {
  const camel = camelFieldName(name);
  return known.includes(camel) ? camel : name;
}

/** Looking for the name that was meant takes longest: it is done for as many as are reported of one object. */
function findingsOfAll(schema: z.ZodType, issues: readonly z.core.$ZodIssue[]): readonly Finding[] {
  let guesses = maxFindings;
  const guess: typeof nearestName = (name, known) => {
    guesses -= 1;
    return guesses < 0 ? undefined : nearestName(name, known);
  };
  return issues.flatMap((issue) => findingsOf(schema, issue, guess));
}

function findingsOf(schema: z.ZodType, issue: z.core.$ZodIssue, guess: typeof nearestName): readonly Finding[] {
  const path: Path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = fieldsAt(schema, issue.path);
      return issue.keys.map((name) => {
        const meant = guess(name, known);
        const list = known.length > 12 ? "see the reference for its fields" : `known here: ${known.join(", ")}`;
        const hint = meant === undefined ? list : `did you mean "${meant}"?`;
        return error([...path, name], `unknown field "${name}"`, hint, "unknown-field");
      });
    }
    case "invalid_union": {
      // Numbers may be written as texts: the branch that the value's own type chose has the better message.
      const branch = issue.errors[typeof issue.input === "string" ? issue.errors.length - 1 : 0] ?? [];
      const [inner] = branch;
      return [valueError(path, inner === undefined ? issue.message : ruleOf(inner), issue.input)];
    }
    default:
      return [valueError(path, ruleOf(issue), issue.input)];
  }
}

function valueError(path: Path, rule: string, value: unknown): Finding {
  if (value === undefined) return error(path, "is required", rule, "missing-field");
  return error(path, `${shortText(value)} ${rule}`);
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.message.startsWith("must")
        ? issue.message
        : `must be ${typeNames[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_format":
      // A form of its own has words of its own; all others are those of numbers that are written as texts.
      return issue.message.startsWith("must") ? issue.message : "must be a number";
    default:
      return issue.message;
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function shortText(value: unknown): string {
  const json =
    typeof value === "object" && value !== null
      ? Array.isArray(value)
        ? "a list"
        : "an object"
      : JSON.stringify(value);
  return json.length > 80 ? `${json.slice(0, 77)}...` : json;
}

/** The camelCase form of a field name in either of protobuf's spellings: `connect_timeout` is `connectTimeout`. */
export function camelFieldName(name: string): string {
  return name.replace(/(?<!_)_+([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
