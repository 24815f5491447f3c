/**
 * Whether JSON has the form of a message, decided by tables that are made from the message's descriptor when it is first met: a
 * fifth of the cost of reading the message, since nothing is built. It says yes only to what the library would read; of anything
 * unusual (other spellings of a name, null, numbers as text) it says no, and the library is asked.
 * @see docs/decisions/013-checked-by-tables.md
 */
import { type DescField, type DescMessage, type DescOneof, ScalarType } from "@bufbuild/protobuf";
import type { Constraints } from "./field-constraints.ts";
import type { RuleCheck } from "./field-rules.ts";
import type { TypeLookup } from "./type-lookup.ts";

/**
 * @param depth how many messages are around the value
 * @param inAny the message's type stands among its fields
 */
type Check = (json: unknown, depth: number, inAny?: boolean) => boolean;

/** @returns whether the JSON surely has the form of the message, and all within it what its constraints ask for, where they are given */
export type FormCheck = (schema: DescMessage, json: unknown) => boolean;

/** The library reads a hundred messages within each other, and counts an Any as one and what it holds as another. */
const maxDepth = 45;

/**
 * @param typeOf the types that an Any may hold
 * @param constraintsOf what the fields of a message must be beside their types; absent: whatever fits these
 */
export function createFormCheck(typeOf: TypeLookup, constraintsOf?: (schema: DescMessage) => Constraints): FormCheck {
  const checks = new Map<DescMessage, Check>();
  const checkOf = (schema: DescMessage): Check => {
    const known = checks.get(schema);
    if (known !== undefined) return known;
    // Messages hold each other: the table is there before its fields are looked at.
    const table: Table = { fields: new Map(), needed: 0, next: undefined };
    const check = wellKnown(schema, anyCheck) ?? messageCheck(table);
    checks.set(schema, check);
    const constraints = constraintsOf?.(schema);
    const counted: (DescField | DescOneof)[] = [];
    for (const field of schema.fields) {
      const isNeeded = constraints?.needed.has(field.jsonName) === true;
      const bit = field.oneof === undefined && !isNeeded ? 0 : bitOf(counted, field.oneof ?? field);
      if (isNeeded) table.needed |= bit;
      table.fields.set(field.jsonName, {
        name: field.jsonName,
        check: bit === lastBit ? never : fieldCheck(field, checkOf),
        rules: constraints?.rules.get(field.jsonName) ?? [],
        bit,
        next: undefined,
        lastText: undefined,
        lastObject: nothing,
        lastDepth: 0,
      });
    }
    return check;
  };
  const anyCheck: Check = (json, depth) => {
    if (!isObject(json)) return false;
    const schema = typeOf(json["@type"]);
    if (schema === undefined) return false;
    const hasOwnForm = schema.typeName.startsWith("google.protobuf.") && wellKnown(schema, anyCheck) !== undefined;
    if (!hasOwnForm) return checkOf(schema)(json, depth, true);
    for (const name in json) if (name !== "@type" && name !== "value") return false;
    return depth <= maxDepth && checkOf(schema)(json.value, depth + 1);
  };
  return (schema, json) => checkOf(schema)(json, 0);
}

/** What comes before a field: another one, or nothing. */
interface Before {
  /** The field that came next in the last message: generators write all of a kind in one order, so it mostly does again. */
  next: FieldForm | undefined;
}

interface Table extends Before {
  /** By the field's name in JSON. */
  readonly fields: Map<string, FieldForm>;
  /** The bits of what has to be there. */
  needed: number;
}

/** One field of a message. */
interface FieldForm extends Before {
  /** As messages have it, which is the same text in memory and quickly compared. */
  name: string;
  readonly check: Check;
  readonly rules: readonly RuleCheck[];
  /** Its own, or that of its oneof; 0 for a field of none that need not be there. */
  readonly bit: number;
  /** The value that was right here last, so deep: much of what one message has is the same object in the next. */
  lastText: string | undefined;
  lastObject: object;
  lastDepth: number;
}

/** No value of any message. */
const nothing: object = Object.freeze({});

const lastBit = 1 << 31;

/** Nothing of Envoy's needs so many bits: what is beyond the last one is never taken, and the library is asked. */
function bitOf<T>(counted: T[], one: T): number {
  if (!counted.includes(one)) counted.push(one);
  return 1 << Math.min(counted.indexOf(one), 31);
}

function messageCheck(table: Table): Check {
  return (json, depth, inAny) => {
    if (!isObject(json) || depth > maxDepth) return false;
    let seen = 0;
    let before: Before = table;
    for (const name in json) {
      let field = before.next;
      if (field?.name !== name) {
        field = table.fields.get(name);
        if (field === undefined) {
          if (name === "@type" && inAny === true) continue;
          return false;
        }
        field.name = name;
        before.next = field;
      }
      before = field;
      if ((seen & field.bit) !== 0 || !isRight(field, json[name], depth + 1)) return false;
      seen |= field.bit;
    }
    return (seen & table.needed) === table.needed;
  };
}

function isRight(field: FieldForm, value: unknown, depth: number): boolean {
  // Texts apart from objects: comparing values of any kind costs more than most checks.
  if (typeof value === "string") {
    if (value === field.lastText) return true;
  } else if (typeof value === "object" && value === field.lastObject && depth <= field.lastDepth) return true;
  if (!field.check(value, depth)) return false;
  for (const rule of field.rules) if (rule(value) !== undefined) return false;
  if (typeof value === "string") field.lastText = value;
  else if (typeof value === "object" && value !== null) {
    field.lastObject = value;
    field.lastDepth = depth;
  }
  return true;
}

const never: Check = () => false;

function fieldCheck(field: DescField, checkOf: (schema: DescMessage) => Check): Check {
  switch (field.fieldKind) {
    case "scalar":
      return scalarCheck(field.scalar);
    case "enum":
      return enumCheck(field.enum.values);
    case "message":
      return lazyCheck(field.message, checkOf);
    case "list": {
      const element = elementCheck(field, checkOf);
      return (json, depth) => {
        if (!Array.isArray(json)) return false;
        for (const one of json) if (!element(one, depth)) return false;
        return true;
      };
    }
    case "map": {
      if (field.mapKey !== ScalarType.STRING) return never;
      const element = elementCheck(field, checkOf);
      return (json, depth) => {
        if (!isObject(json)) return false;
        for (const key in json) if (!key.isWellFormed() || !element(json[key], depth)) return false;
        return true;
      };
    }
  }
}

type Elements = Extract<DescField, { readonly fieldKind: "list" }> | Extract<DescField, { readonly fieldKind: "map" }>;

function elementCheck(field: Elements, checkOf: (schema: DescMessage) => Check): Check {
  if (field.message !== undefined) return lazyCheck(field.message, checkOf);
  if (field.enum !== undefined) return enumCheck(field.enum.values);
  return field.scalar === undefined ? never : scalarCheck(field.scalar);
}

/** A table is made when its message is met: Envoy has thousands, and a mesh holds a few dozen. */
function lazyCheck(schema: DescMessage, checkOf: (schema: DescMessage) => Check): Check {
  let check: Check | undefined;
  return (json, depth) => {
    check ??= checkOf(schema);
    return check(json, depth);
  };
}

function enumCheck(values: readonly { readonly name: string }[]): Check {
  const names = new Set<unknown>(values.map(({ name }) => name));
  return (json) => names.has(json);
}

const between =
  (least: number, most: number): Check =>
  (json) =>
    Number.isInteger(json) && Number(json) >= least && Number(json) <= most;

const int32 = between(-0x80000000, 0x7fffffff);
const uint32 = between(0, 0xffffffff);
const int64: Check = (json) => Number.isSafeInteger(json) || (typeof json === "string" && /^-?\d{1,18}$/.test(json));
const uint64: Check = (json) =>
  (Number.isSafeInteger(json) && Number(json) >= 0) || (typeof json === "string" && /^\d{1,18}$/.test(json));
const largestFloat = 3.4028234663852886e38;

function scalarCheck(type: ScalarType): Check {
  switch (type) {
    case ScalarType.STRING:
      return (json) => typeof json === "string" && json.isWellFormed();
    case ScalarType.BOOL:
      return (json) => typeof json === "boolean";
    case ScalarType.BYTES:
      return (json) => typeof json === "string" && json.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(json);
    case ScalarType.DOUBLE:
      return (json) => Number.isFinite(json);
    case ScalarType.FLOAT:
      return (json) => Number.isFinite(json) && Math.abs(Number(json)) <= largestFloat;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return int32;
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return uint32;
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return int64;
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return uint64;
  }
}

/** Messages with a JSON form of their own; undefined for any other. */
function wellKnown(schema: DescMessage, any: Check): Check | undefined {
  switch (schema.typeName) {
    case "google.protobuf.Any":
      return any;
    case "google.protobuf.Duration":
      return duration;
    case "google.protobuf.Struct":
      return structCheck;
    case "google.protobuf.Value":
      return valueCheck;
    case "google.protobuf.ListValue":
      return (json, depth) => Array.isArray(json) && valueCheck(json, depth);
    case "google.protobuf.Timestamp":
    case "google.protobuf.FieldMask":
      return never;
    default: {
      const [value] = schema.fields;
      const isWrapper = /^google\.protobuf\.(?:Double|Float|U?Int(?:32|64)|Bool|String|Bytes)Value$/.test(
        schema.typeName,
      );
      return isWrapper && value?.fieldKind === "scalar" ? scalarCheck(value.scalar) : undefined;
    }
  }
}

const maxSeconds = 315_576_000_000;

const duration: Check = (json) => {
  if (typeof json !== "string") return false;
  const seconds = /^(-?\d{1,12})(?:\.\d{1,9})?s$/.exec(json)?.[1];
  return seconds !== undefined && Math.abs(Number(seconds)) <= maxSeconds;
};

const structCheck: Check = (json, depth) => isObject(json) && valueCheck(json, depth);

// No `switch` over the type: V8 makes a text of it then, and compares texts.
const valueCheck: Check = (json, depth) => {
  if (typeof json === "string") return json.isWellFormed();
  if (typeof json === "boolean" || json === null) return true;
  if (typeof json === "number") return Number.isFinite(json);
  if (depth > maxDepth) return false;
  if (Array.isArray(json)) return areValues(json, depth + 1);
  if (!isObject(json)) return false;
  for (const key in json) if (!key.isWellFormed() || !valueCheck(json[key], depth + 1)) return false;
  return true;
};

function areValues(list: readonly unknown[], depth: number): boolean {
  for (const element of list) if (!valueCheck(element, depth)) return false;
  return true;
}

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
