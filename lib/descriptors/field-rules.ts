import { type DescEnum, type DescField, ScalarType } from "@bufbuild/protobuf";

/** Rules as the generated text has them: `{"string": {"minLen": "1"}}`, `{"repeated": {"items": {"string": {…}}}}`. */
export interface FieldRules {
  readonly [kind: string]: RuleValues | undefined;
}
type RuleValues = Readonly<Record<string, unknown>>;

/** @returns what the value of a field breaks, and where below it */
export type RuleCheck = (
  value: unknown,
) => { readonly path: readonly (string | number)[]; readonly reason: string } | undefined;

/** What a present value must be, and how that is said. */
interface ValueRule {
  readonly holds: (value: unknown) => boolean;
  readonly reason: string;
}

/** The checks of one field, for its value as JSON has it, or for its absence. */
export function createRuleChecks(field: DescField, rules: FieldRules): readonly RuleCheck[] {
  const checks: RuleCheck[] = [];
  // Of a oneof only what is there is looked at.
  if (field.oneof === undefined && isRequired(rules))
    checks.push((value) => (value === undefined ? { path: [], reason: "is required" } : undefined));
  const { repeated, map } = rules;
  if (repeated !== undefined) checks.push(...listChecks(field, repeated));
  else if (map !== undefined) checks.push(...mapChecks(map));
  else checks.push(...valueRules(rules, field.enum).map(ofValue(field)));
  return checks;
}

const isRequired = ({ message, duration, any, timestamp }: FieldRules): boolean =>
  [message, duration, any, timestamp].some((rules) => rules?.required === true);

/** A field that is not written counts with its default, unless absence means something. */
function ofValue(field: DescField): (rule: ValueRule) => RuleCheck {
  const absent = countsWhenAbsent(field) ? zeroOf(field) : undefined;
  return ({ holds, reason }) =>
    (written) => {
      const value = written === undefined ? absent : written;
      return value === undefined || holds(value) ? undefined : { path: [], reason };
    };
}

function listChecks(field: DescField, { minItems, maxItems, unique, items }: RuleValues): readonly RuleCheck[] {
  const least = numberOf(minItems);
  const most = numberOf(maxItems);
  const each = isRules(items) ? valueRules(items, field.enum) : [];
  const checks: RuleCheck[] = [];
  if (least !== undefined || most !== undefined)
    checks.push((value) => {
      const count = Array.isArray(value) ? value.length : 0;
      if (least !== undefined && count < least) return { path: [], reason: `must have at least ${least} elements` };
      if (most !== undefined && count > most) return { path: [], reason: `must have at most ${most} elements` };
      return undefined;
    });
  if (unique === true)
    checks.push((value) => {
      if (!Array.isArray(value) || value.some((one) => typeof one === "object")) return undefined;
      return new Set(value).size < value.length ? { path: [], reason: "must not repeat an element" } : undefined;
    });
  if (each.length > 0)
    checks.push((value) => {
      if (!Array.isArray(value)) return undefined;
      for (let at = 0; at < value.length; at++)
        for (const { holds, reason } of each) if (!holds(value[at])) return { path: [at], reason };
      return undefined;
    });
  return checks;
}

function mapChecks({ minPairs, keys, values }: RuleValues): readonly RuleCheck[] {
  const least = numberOf(minPairs);
  const ofKey = isRules(keys) ? valueRules(keys, undefined) : [];
  const ofEntry = isRules(values) ? valueRules(values, undefined) : [];
  return [
    (value) => {
      const entries = isEntries(value) ? value : {};
      if (least !== undefined && Object.keys(entries).length < least)
        return { path: [], reason: `must have at least ${least} entries` };
      for (const key in entries) {
        for (const { holds, reason } of ofKey) if (!holds(key)) return { path: [key], reason };
        for (const { holds, reason } of ofEntry) if (!holds(entries[key])) return { path: [key], reason };
      }
      return undefined;
    },
  ];
}

function valueRules(rules: FieldRules, values: DescEnum | undefined): readonly ValueRule[] {
  return Object.entries(rules).flatMap(([kind, rule]): readonly ValueRule[] => {
    if (rule === undefined) return [];
    switch (kind) {
      case "string":
        return stringRules(rule);
      case "bytes":
        return bytesRules(rule);
      case "bool":
        return "const" in rule ? [{ holds: (value) => value === rule.const, reason: `must be ${rule.const}` }] : [];
      case "enum":
        return enumRules(rule, values);
      case "duration":
        return orderRules(rule, secondsOf);
      case "float":
      case "double":
      case "int32":
      case "uint32":
      case "int64":
      case "uint64":
        return orderRules(rule, numberOf);
      default:
        return [];
    }
  });
}

/** Texts as Envoy's own patterns of headers take them; strict where the rule does not say otherwise. */
const headerPatterns: Readonly<Record<string, readonly [strict: RegExp, loose: RegExp]>> = {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a header must not have
  HTTP_HEADER_NAME: [/^:?[0-9a-zA-Z!#$%&'*+\-.^_|~`]+$/, /^[^\u0000\u000A\u000D]*$/],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the same
  HTTP_HEADER_VALUE: [/^[^\u0000-\u0008\u000A-\u001F\u007F]*$/, /^[^\u0000\u000A\u000D]*$/],
};

function stringRules(rule: RuleValues): readonly ValueRule[] {
  const { minLen, maxLen, minBytes, maxBytes, prefix, wellKnownRegex, strict, ignoreEmpty } = rule;
  const allowed = Array.isArray(rule.in) ? rule.in : undefined;
  const header = headerPatterns[String(wellKnownRegex)]?.[strict === false ? 1 : 0];
  const limit = (given: unknown, holds: (text: string, bound: number) => boolean, reason: string) => {
    const bound = numberOf(given);
    return bound === undefined ? [] : [text((value) => holds(value, bound), reason.replace("#", String(bound)))];
  };
  const rules = [
    ...limit(
      minLen,
      (value, bound) => value.length >= bound && (bound <= 1 || lettersIn(value) >= bound),
      "must have at least # characters",
    ),
    ...limit(
      maxLen,
      (value, bound) => value.length <= bound || lettersIn(value) <= bound,
      "must have at most # characters",
    ),
    ...limit(minBytes, (value, bound) => bytesIn(value) >= bound, "must have at least # bytes"),
    ...limit(
      maxBytes,
      (value, bound) => value.length * 3 <= bound || bytesIn(value) <= bound,
      "must have at most # bytes",
    ),
    ...(typeof prefix === "string" ? [text((value) => value.startsWith(prefix), `must begin with ${prefix}`)] : []),
    ...(allowed === undefined
      ? []
      : [text((value) => allowed.includes(value), `must be one of ${allowed.join(", ")}`)]),
    ...(header === undefined ? [] : [text((value) => header.test(value), "must be what a header may hold")]),
  ];
  if (ignoreEmpty !== true) return rules;
  return rules.map(({ holds, reason }) => ({ holds: (value: unknown) => value === "" || holds(value), reason }));
}

const text = (holds: (value: string) => boolean, reason: string): ValueRule => ({
  holds: (value) => typeof value !== "string" || holds(value),
  reason,
});

/** Most texts are judged by their length alone, which says enough. */
const lettersIn = (value: string): number => [...value].length;

const bytesIn = (value: string): number => new TextEncoder().encode(value).length;

function bytesRules({ minLen, maxLen }: RuleValues): readonly ValueRule[] {
  const [least, most] = [numberOf(minLen), numberOf(maxLen)];
  // Base64, padded.
  const size = (value: string) => (value.length / 4) * 3 - (value.endsWith("==") ? 2 : value.endsWith("=") ? 1 : 0);
  return [
    ...(least === undefined ? [] : [text((value) => size(value) >= least, `must have at least ${least} bytes`)]),
    ...(most === undefined ? [] : [text((value) => size(value) <= most, `must have at most ${most} bytes`)]),
  ];
}

/** That a value is defined the form has shown already: it stands by its name. */
function enumRules({ notIn }: RuleValues, values: DescEnum | undefined): readonly ValueRule[] {
  if (!Array.isArray(notIn) || values === undefined) return [];
  const refused = new Set(values.values.filter(({ number }) => notIn.includes(number)).map(({ name }) => name));
  return [{ holds: (value) => !refused.has(String(value)), reason: `must not be ${[...refused].join(" or ")}` }];
}

const orders = [
  ["gt", "more than", (value: number, bound: number) => value > bound],
  ["gte", "at least", (value: number, bound: number) => value >= bound],
  ["lt", "less than", (value: number, bound: number) => value < bound],
  ["lte", "at most", (value: number, bound: number) => value <= bound],
] as const;

function orderRules(rule: RuleValues, read: (value: unknown) => number | undefined): readonly ValueRule[] {
  return orders.flatMap(([name, words, holds]): readonly ValueRule[] => {
    const written = rule[name];
    const bound = read(written);
    if (bound === undefined) return [];
    return [
      {
        holds: (value) => {
          const known = read(value);
          return known === undefined || holds(known, bound);
        },
        reason: `must be ${words} ${String(written)}`,
      },
    ];
  });
}

const isEntries = (value: unknown): value is RuleValues => typeof value === "object" && value !== null;

const isRules = (value: unknown): value is FieldRules => typeof value === "object" && value !== null;

/** A number, or one of 64 bits in a text. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : undefined;
}

function secondsOf(value: unknown): number | undefined {
  const match = typeof value === "string" ? /^(-?\d+(?:\.\d+)?)s$/.exec(value) : null;
  return match === null ? undefined : Number(match[1]);
}

/** Whether a field that is not written counts as one with its default: plain fields do, those of oneofs and messages do not. */
const countsWhenAbsent = (field: DescField): boolean =>
  field.fieldKind === "list" ||
  field.fieldKind === "map" ||
  (field.fieldKind !== "message" && field.oneof === undefined && !isOptional(field));

const isOptional = ({ proto }: DescField): boolean => proto.proto3Optional === true;

/** The zero of a field's type in JSON. */
function zeroOf(field: DescField): unknown {
  switch (field.fieldKind) {
    case "list":
      return [];
    case "map":
      return {};
    case "enum":
      return field.enum.values.find(({ number }) => number === 0)?.name;
    case "scalar":
      return field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES
        ? ""
        : field.scalar === ScalarType.BOOL
          ? false
          : 0;
    default:
      return undefined;
  }
}
