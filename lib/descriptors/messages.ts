/**
 * Messages as plain JSON, by their descriptors: what one may hold, why Envoy would refuse one, and the form in which the generators write
 * them.
 */

import { type DescMessage, fromJson, type JsonValue, type MessageJsonType, toJson } from "@bufbuild/protobuf";
import { causeText } from "../base/cause-text.ts";
import { createConstraints, type Violation } from "./field-constraints.ts";
import { createFormCheck } from "./message-form.ts";
import { registry } from "./registry.ts";
import { createTypeLookup } from "./type-lookup.ts";
import { hiddenMessage, hideMessage } from "./values/hidden-message.ts";

const typesInAny = createTypeLookup(registry);
/** Whether JSON surely has the form of a message. */
export const hasForm = createFormCheck(typesInAny);
const { constraintsOf, violationIn } = createConstraints(typesInAny);
/** Whether a message surely has its form and keeps all constraints: what of nearly all is so, in one walk. */
const isSound = createFormCheck(typesInAny, constraintsOf);

/** The descriptor of an Any's type, `type.googleapis.com/<full name>`; undefined for a type that we do not carry. */
export function messageOfType(typeUrl: string): DescMessage | undefined {
  return registry.getMessage(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
}

/** A message in canonical JSON, and the types in it that no descriptor is known for: those stay as written. */
export interface Canonical<Json> {
  readonly json: Json;
  readonly unknownTypes: readonly string[];
}

/**
 * Reads a message in either spelling of field names and writes it as the generators do: camelCase, enums by name, canonical
 * durations, nothing that is its default. Unknown fields are dropped.
 *
 * @returns the reason, for what is no such message
 */
export function canonicalMessage<Desc extends DescMessage>(
  schema: Desc,
  value: unknown,
): Canonical<MessageJsonType<Desc>> | { readonly error: string } {
  const unknownTypes: string[] = [];
  try {
    const known = hideUnknown(asJson(value), unknownTypes);
    const message = fromJson(schema, known, { registry, ignoreUnknownFields: true });
    const json: JsonValue = showUnknown(toJson(schema, message, { registry }));
    // Nothing but opaque Anys has been put back, so it still is the message's JSON.
    return { json: json as MessageJsonType<Desc>, unknownTypes };
  } catch (error) {
    // The library's only way to say that a value does not fit.
    return { error: causeText(error) };
  }
}

/** Who reads a message: Envoy holds it against the constraints of its protos, a gRPC program against rules of its own. */
export type Reader = "envoy" | "grpc";

/**
 * Why its reader would refuse a message that is written as the generators write it, and the whole resource with it; undefined: it takes it.
 * Types that we do not carry are taken on trust.
 */
export function messageProblem(schema: DescMessage, message: object, reader: Reader = "envoy"): string | undefined {
  // Generated messages are plain JSON by their types; a copy would cost more than the check.
  const json = message as JsonValue;
  if (reader === "envoy" && isSound(schema, json)) return undefined;
  // Unknown types are rare: they are looked for only when something is wrong.
  const isPlain = hasForm(schema, json);
  const misread = isPlain ? undefined : refusal(schema, json) && refusal(schema, hideUnknown(json, []));
  return misread ?? (reader === "envoy" ? brokenRule(schema, json, isPlain) : undefined);
}

/**
 * Constraints are looked for by the names that JSON has; what is written otherwise is brought into that form first.
 *
 * @param isPlain whether it is written with these names, which `hasForm` has said
 */
function violationOf(schema: DescMessage, json: JsonValue, isPlain: boolean) {
  if (isPlain) return violationIn(schema, json);
  const canonical = canonicalMessage(schema, json);
  return "error" in canonical ? undefined : violationIn(schema, canonical.json);
}

const brokenRule = (schema: DescMessage, json: JsonValue, isPlain: boolean): string | undefined =>
  violationText(schema, violationOf(schema, json, isPlain));

/**
 * Which constraint of Envoy's protos a canonical message breaks.
 *
 * @param isPartial as `ConstraintCheck` has it
 * @returns undefined where it keeps all
 */
export const brokenConstraint = (schema: DescMessage, json: object, isPartial: boolean): Violation | undefined =>
  violationIn(schema, json, isPartial);

function violationText(schema: DescMessage, violation: Violation | undefined): string | undefined {
  if (violation === undefined) return undefined;
  const path = violation.path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`));
  return `${path.join("") || schema.name} ${violation.reason}`;
}

function refusal(schema: DescMessage, json: JsonValue): string | undefined {
  try {
    fromJson(schema, json, { registry });
    return undefined;
  } catch (error) {
    // The library's only way to say that a value does not fit.
    return causeText(error);
  }
}

function asJson(value: unknown): JsonValue {
  // Plain data is JSON already; the copy only drops members that are undefined.
  const copy: JsonValue = JSON.parse(JSON.stringify(value));
  return copy;
}

function hideUnknown(value: JsonValue, unknownTypes: string[]): JsonValue {
  if (Array.isArray(value)) return value.map((element) => hideUnknown(element, unknownTypes));
  if (value === null || typeof value !== "object") return value;
  const type = value["@type"];
  if (typeof type === "string" && messageOfType(type) === undefined) {
    unknownTypes.push(type);
    return hideMessage(value);
  }
  return mapMembers(value, (member) => hideUnknown(member, unknownTypes));
}

function showUnknown(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(showUnknown);
  if (value === null || typeof value !== "object") return value;
  return hiddenMessage(value) ?? mapMembers(value, showUnknown);
}

function mapMembers(value: { [key: string]: JsonValue }, map: (member: JsonValue) => JsonValue): JsonValue {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, map(member)]));
}
