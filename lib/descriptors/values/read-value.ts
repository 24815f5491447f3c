/**
 * Reads values as Istio reads those of an EnvoyFilter's patches, and says where something is wrong. Istio takes Go's older decoder of
 * JSON for them: durations are Go's, numbers may stand in texts, and of several spellings of a field or members of a oneof one counts.
 * @see istio 1.30.3 pkg/config/xds/xds.go
 * @see docs/how-istio-does-it/envoy-filters.md#values
 */
import { type DescField, type DescMessage, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { formatDuration, parseDuration } from "../../base/duration.ts";
import { nearestName } from "../../base/nearest-name.ts";
import { type ReadMessage, readAny } from "./any-value.ts";
import { isMembers, type Members } from "./members.ts";
import { readEnum, readScalar, type ScalarReading } from "./scalar-value.ts";
import { createProblemList, type ProblemList, quoted, type ValuePath, type ValueProblem } from "./value-problem.ts";

export interface ValueReading {
  /** What the library's reader takes; without the parts that are invalid. */
  readonly json: JsonValue;
  /** In the order of the message's fields. */
  readonly problems: readonly ValueProblem[];
}

/** The library reads a hundred messages within each other. */
const maxDepth = 90;

/** @param json plain JSON, as a document has it */
export function readValue(schema: DescMessage, json: JsonValue): ValueReading {
  const list = createProblemList();
  return { json: createReader(list)(schema, json, [], 0) ?? {}, problems: list.problems };
}

function createReader(list: ProblemList): ReadMessage {
  const settle = (reading: ScalarReading, path: ValuePath): JsonValue | undefined => {
    if ("json" in reading) return reading.json;
    list.add("invalid", path, reading.reason, reading.hint);
    return undefined;
  };

  const read: ReadMessage = (schema, json, path, depth) => {
    if (depth > maxDepth) {
      list.add("invalid", path, `is nested more than ${maxDepth} messages deep`);
      return undefined;
    }
    const own = readOwnForm(schema, json, path, depth);
    if (own !== "none") return own;
    if (json === null) return {};
    if (!isMembers(json)) {
      list.add("invalid", path, `must be an object (${schema.typeName}), not ${quoted(json)}`);
      return undefined;
    }
    return readMembers(schema, json, path, depth);
  };

  /** What protobuf's JSON writes otherwise than as an object of its fields; "none" for any other message. */
  function readOwnForm(schema: DescMessage, json: JsonValue, path: ValuePath, depth: number) {
    const [value] = schema.fields;
    switch (schema.typeName) {
      case "google.protobuf.Any":
        return readAny(json, path, depth, list, read);
      case "google.protobuf.Duration":
        return settle(json === null ? { json: "0s" } : readDuration(json), path);
      case "google.protobuf.Timestamp":
        return settle(json === null ? { json: "1970-01-01T00:00:00Z" } : readTimestamp(json), path);
      case "google.protobuf.Struct":
        return settle(readStruct(json ?? {}), path);
      case "google.protobuf.Value":
        return settle(readAnything(json), path);
      case "google.protobuf.ListValue":
        return settle(Array.isArray(json ?? []) ? readAnything(json ?? []) : notA("a list", json), path);
      case "google.protobuf.FieldMask": {
        // Istio reads it by its fields, and writes it as everybody does.
        const fields = json === null ? {} : isMembers(json) ? readMembers(schema, json, path, depth) : undefined;
        const paths = fields?.paths ?? [];
        if (fields !== undefined) return Array.isArray(paths) ? paths.map(maskPath).join(",") : undefined;
        return settle(
          { reason: `must be an object with paths, not ${quoted(json)}`, hint: "write paths: [a, b]" },
          path,
        );
      }
      default:
        return /^google\.protobuf\.\w+Value$/.test(schema.typeName) && value?.fieldKind === "scalar"
          ? settle(readScalar(value.scalar, json), path)
          : "none";
    }
  }

  function readMembers(schema: DescMessage, json: Members, path: ValuePath, depth: number): Members {
    const known = new Set<string>();
    const members: Record<string, JsonValue> = {};
    for (const field of schema.fields) {
      const { name, jsonName } = field;
      known.add(name).add(jsonName);
      const isCamel = Object.hasOwn(json, jsonName);
      const written = isCamel ? jsonName : name;
      const value = Object.hasOwn(json, written) ? json[written] : undefined;
      if (isCamel && jsonName !== name && Object.hasOwn(json, name))
        list.add(
          "ignored",
          [...path, name],
          `has no effect: ${jsonName} is set as well, and Istio reads that one`,
          `remove ${name}, or move what it sets to ${jsonName}`,
        );
      if (value === undefined || (value === null && !isNullable(field))) continue;
      const result = readField(field, value, [...path, written], depth);
      if (result === undefined) continue;
      for (const sibling of field.oneof?.fields ?? []) {
        if (sibling === field || members[sibling.jsonName] === undefined) continue;
        delete members[sibling.jsonName];
        const other = Object.hasOwn(json, sibling.jsonName) ? sibling.jsonName : sibling.name;
        const reason = `has no effect: only one of it and ${written} can apply, and Istio uses the one that Envoy's API declares last`;
        list.add("ignored", [...path, other], reason, "keep one of them");
      }
      members[jsonName] = result;
    }
    for (const name of Object.keys(json)) if (!known.has(name)) noteUnknown(schema, name, [...path, name]);
    return members;
  }

  function noteUnknown(schema: DescMessage, name: string, path: ValuePath): void {
    // Looking for the name that was meant takes longest.
    if (list.isFull()) return;
    const names = schema.fields.map((field) => field.name);
    const hasTypedConfig = names.includes("typed_config");
    const meant = hasTypedConfig && name === "config" ? undefined : nearestName(name, names);
    const hint =
      meant !== undefined
        ? `write ${meant}`
        : hasTypedConfig && name === "config"
          ? "write typed_config, with the type of the configuration as @type: Envoy has not read config since 1.17"
          : "compare it with Envoy's API reference";
    list.add("unknown-field", path, `is not a field of ${schema.typeName}`, hint);
  }

  function readField(field: DescField, json: JsonValue, path: ValuePath, depth: number): JsonValue | undefined {
    switch (field.fieldKind) {
      case "list": {
        if (!Array.isArray(json)) return settle(notA("a list", json), path);
        return json.flatMap((element, index) => readOne(field, element, [...path, index], depth) ?? []);
      }
      case "map": {
        if (!isMembers(json)) return settle(notA("an object", json), path);
        const entries = Object.entries(json).flatMap(([key, element]): readonly (readonly [string, JsonValue])[] => {
          const value = readOne(field, element, [...path, key], depth);
          const isKey = field.mapKey === ScalarType.STRING || isMapKey(field.mapKey, key);
          if (!isKey) list.add("invalid", [...path, key], "is no key of this map: it must be a number");
          return value === undefined || !isKey ? [] : [[key.toWellFormed(), value]];
        });
        return Object.fromEntries(entries);
      }
      default:
        return readOne(field, json, path, depth);
    }
  }

  /** The value of a field that has one, or an element. */
  function readOne(field: DescField, json: JsonValue, path: ValuePath, depth: number): JsonValue | undefined {
    const { message, enum: values, scalar } = field;
    if (message !== undefined) return read(message, json, path, depth + 1);
    if (values !== undefined) return settle(readEnum(values, json, !list.isFull()), path);
    return scalar === undefined ? undefined : settle(readScalar(scalar, json), path);
  }

  return read;
}

/** Whether null is a value of the field, and not the same as no value. */
const isNullable = (field: DescField): boolean =>
  field.fieldKind === "message" && field.message.typeName === "google.protobuf.Value";

const isMapKey = (type: ScalarType, key: string): boolean =>
  type === ScalarType.BOOL ? key === "true" || key === "false" : "json" in readScalar(type, key);

const notA = (what: string, json: JsonValue): ScalarReading => ({ reason: `must be ${what}, not ${quoted(json)}` });

/** JSON writes the paths of a mask in camelCase. */
const maskPath = (path: JsonValue): string => String(path).replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());

function readDuration(json: JsonValue): ScalarReading {
  const nanos = typeof json === "string" ? parseDuration(json) : undefined;
  if (nanos !== undefined) return { json: formatDuration(nanos) };
  const hint = typeof json === "number" ? `write ${json}s` : "such as 500ms, 10s or 1m30s";
  return { reason: `must be a duration with its unit, not ${quoted(json)}`, hint };
}

const rfc3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[-+]\d\d:\d\d)$/;

function readTimestamp(json: JsonValue): ScalarReading {
  const [, time = "", fraction = "", zone = ""] = (typeof json === "string" ? rfc3339.exec(json) : null) ?? [];
  const isTime = time !== "" && new Date(`${time}Z`).toJSON()?.startsWith(time) === true;
  if (isTime) return { json: `${time}${fraction.slice(0, 10)}${zone}` };
  return { reason: `must be a time, not ${quoted(json)}`, hint: "such as 2026-01-31T12:00:00Z" };
}

const readStruct = (json: JsonValue): ScalarReading => (isMembers(json) ? readAnything(json) : notA("an object", json));

/** Numbers that JSON cannot write are the only thing that is no value. */
function readAnything(json: JsonValue): ScalarReading {
  return { json: wellFormed(json) };
}

function wellFormed(json: JsonValue): JsonValue {
  if (typeof json === "string") return json.toWellFormed();
  if (Array.isArray(json)) return json.map(wellFormed);
  if (!isMembers(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key.toWellFormed(), wellFormed(value)]));
}
