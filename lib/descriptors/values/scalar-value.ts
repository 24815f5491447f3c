/**
 * Scalars as Istio reads them, which is the way of Go's older decoder: numbers may stand in texts, and nothing else in the place of
 * another type.
 * @see docs/how-istio-does-it/envoy-filters.md#values
 */
import { type DescEnum, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { nearestName } from "../../base/nearest-name.ts";
import { quoted } from "./value-problem.ts";

/** A value in canonical JSON, or why it is none. */
export type ScalarReading = { readonly json: JsonValue } | { readonly reason: string; readonly hint?: string };

type Range = readonly [least: bigint, most: bigint, name: string];

const int32: Range = [-(2n ** 31n), 2n ** 31n - 1n, "an integer of 32 bits"];
const uint32: Range = [0n, 2n ** 32n - 1n, "a positive integer of 32 bits"];
const int64: Range = [-(2n ** 63n), 2n ** 63n - 1n, "an integer of 64 bits"];
const uint64: Range = [0n, 2n ** 64n - 1n, "a positive integer of 64 bits"];

const ranges: ReadonlyMap<ScalarType, Range> = new Map([
  [ScalarType.INT32, int32],
  [ScalarType.SINT32, int32],
  [ScalarType.SFIXED32, int32],
  [ScalarType.UINT32, uint32],
  [ScalarType.FIXED32, uint32],
  [ScalarType.INT64, int64],
  [ScalarType.SINT64, int64],
  [ScalarType.SFIXED64, int64],
  [ScalarType.UINT64, uint64],
  [ScalarType.FIXED64, uint64],
]);

const integer = /^-?(?:0|[1-9]\d{0,39})$/;
const decimal = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const nonFinite: ReadonlySet<unknown> = new Set(["NaN", "Infinity", "-Infinity"]);
/** Padded, of the plain alphabet. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** @param json not undefined; null, which only elements of lists and maps may be, is the type's zero */
export function readScalar(type: ScalarType, json: JsonValue): ScalarReading {
  const range = ranges.get(type);
  if (range !== undefined) return readInteger(json, range);
  switch (type) {
    case ScalarType.BOOL:
      return typeof json === "boolean" || json === null
        ? { json: json ?? false }
        : { reason: `must be true or false, not ${quoted(json)}` };
    case ScalarType.STRING:
      return typeof json === "string" || json === null
        ? { json: (json ?? "").toWellFormed() }
        : { reason: `must be a string, not ${quoted(json)}`, hint: "put it into quotation marks" };
    case ScalarType.BYTES:
      return readBytes(json);
    default:
      return readFloat(type, json);
  }
}

function readInteger(json: JsonValue, [least, most, name]: Range): ScalarReading {
  const wrong = { reason: `must be ${name}, not ${quoted(json)}` };
  const text = numberText(json);
  if (text === "null") return { json: 0 };
  if (text === undefined || !integer.test(text) || (least === 0n && text.startsWith("-"))) return wrong;
  const value = BigInt(text);
  if (value < least || value > most) return wrong;
  return { json: most > 2n ** 32n ? String(value) : Number(value) };
}

function readFloat(type: ScalarType, json: JsonValue): ScalarReading {
  if (nonFinite.has(json)) return { json };
  const text = numberText(json);
  if (text === "null") return { json: 0 };
  const value = text !== undefined && decimal.test(text) ? Number(text) : Number.NaN;
  const isInRange = Number.isFinite(type === ScalarType.FLOAT ? Math.fround(value) : value);
  return isInRange ? { json: value } : { reason: `must be a number, not ${quoted(json)}` };
}

/** A number, or the text that stands for one; undefined for any other value. */
function numberText(json: JsonValue): string | undefined {
  if (typeof json === "number" || json === null) return String(json);
  return typeof json === "string" ? withoutSpaces(json) : undefined;
}

/** A text without what JSON takes for spaces at its ends. */
function withoutSpaces(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text[start])) start += 1;
  while (start < end && isSpace(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

const isSpace = (character = ""): boolean => " \t\r\n".includes(character);

function readBytes(json: JsonValue): ScalarReading {
  if (json === null) return { json: "" };
  const text = typeof json === "string" ? json.replaceAll(/[\r\n]/g, "") : undefined;
  if (text !== undefined && base64.test(text)) return { json: text };
  return { reason: `must be bytes in base64, not ${quoted(json)}`, hint: "use the standard alphabet, with padding" };
}

/**
 * A value of an enum: by its name, exactly, or its number.
 *
 * @param guesses whether to look for the name that was meant: for as many as are reported of one value
 */
export function readEnum(schema: DescEnum, json: JsonValue, guesses: boolean): ScalarReading {
  const names = schema.values.map(({ name }) => name);
  if (json === null) return { json: 0 };
  if (typeof json === "string" && names.includes(json)) return { json };
  if (typeof json === "number" && schema.values.some(({ number }) => number === json)) return { json };
  const meant = guesses && typeof json === "string" ? nearestName(json, names) : undefined;
  const hint = meant === undefined ? `write one of ${names.slice(0, 12).join(", ")}` : `write ${meant}`;
  return { reason: `must be a value of ${schema.typeName}, not ${quoted(json)}`, hint };
}
