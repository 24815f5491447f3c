/**
 * Envoy's descriptors: what a message may hold. The generators build plain JSON; here it is checked, once per resource, and what
 * operators write in patches is brought into canonical form.
 * @see docs/decisions/001-envoy-types-from-npm.md
 */

import { type DescMessage, fromJson, type JsonValue, type MessageJsonType, toBinary, toJson } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { causeText } from "../config/cause-text.ts";
import type { ConfigKey, Diagnostic } from "../config/diagnostic.ts";
import { registry, schemas } from "../descriptors/registry.ts";
import { createConstraints } from "./field-constraints.ts";
import { createFormCheck } from "./message-form.ts";
import type { Resource, ResourceType } from "./resource.ts";
import { createTypeLookup } from "./type-lookup.ts";

const typesInAny = createTypeLookup(registry);
const hasForm = createFormCheck(typesInAny);
const { constraintsOf, violationIn } = createConstraints(typesInAny);
/** Whether a message surely has its form and keeps all constraints: what of nearly all is so, in one walk. */
const isSound = createFormCheck(typesInAny, constraintsOf);

/** Key under which a message of an unknown type travels through the descriptors, in a Struct that they know. */
const opaque = "portolan.opaque";
const structUrl = "type.googleapis.com/google.protobuf.Struct";

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

/**
 * A resource that somebody else has written, in a form that readers of the generated JSON types may take: as it stands where that is one,
 * else in canonical form.
 *
 * @returns the reason, for what is no such message
 */
export function readResource(type: ResourceType, json: object): { readonly json: object } | { readonly error: string } {
  const schema: DescMessage = schemas[type];
  const url = `type.googleapis.com/${schema.typeName}`;
  const { "@type": ofType = url, ...fields }: { readonly "@type"?: unknown } = json;
  if (ofType !== url) return { error: `its @type is ${JSON.stringify(ofType)}, not ${url}` };
  if (hasForm(schema, fields)) return { json };
  const read = canonicalMessage(schema, fields);
  return "error" in read ? read : { json: { "@type": url, ...Object(read.json) } };
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

/** What to say of a resource that its reader would refuse for its form; undefined: it takes it. */
export function checkResource(
  type: ResourceType,
  resource: Resource,
  reader: Reader = "envoy",
): Diagnostic | undefined {
  const reason = messageProblem(schemas[type], resource.json, reader);
  if (reason === undefined) return undefined;
  const key: ConfigKey = resource.from[0] ?? { group: "", kind: "", name: resource.name, namespace: "" };
  return {
    code: "resource-refused",
    severity: "error",
    origin: { key, file: "", line: 0 },
    path: [],
    message: `${type} ${resource.name} was left out: ${reason}`,
    hint: "look at the EnvoyFilters that patch it; without any, this is a bug of the compiler",
  };
}

/**
 * A resource in protobuf's binary form, without its type.
 *
 * @returns undefined for one that holds a type that we do not carry: it has a text only
 */
export function binaryForm(type: ResourceType, resource: Pick<Resource, "json">): Uint8Array<ArrayBuffer> | undefined {
  try {
    const schema: DescMessage = schemas[type];
    return toBinary(schema, fromJson(schema, resource.json as JsonValue, { registry }));
  } catch {
    // What is wrong with it, if anything, `checkResource` has said.
    return undefined;
  }
}

/**
 * Whether an element of a resource's list is what Envoy takes, for its form.
 *
 * @param field name of the list in JSON
 */
export function fitsElement(type: ResourceType, field: string, element: object): boolean {
  const schema = elementField(type, field)?.message;
  return schema !== undefined && messageProblem(schema, element) === undefined;
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

/** Which constraint of Envoy's protos a message breaks, with the path to it: `virtualHosts[0].routes[1] must have one of …`. */
function brokenRule(schema: DescMessage, json: JsonValue, isPlain: boolean): string | undefined {
  const violation = violationOf(schema, json, isPlain);
  if (violation === undefined) return undefined;
  const path = violation.path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`));
  return `${path.join("") || schema.name} ${violation.reason}`;
}

/** Such an element in protobuf's binary form, as one of its message's: with the number of its field. */
export function binaryElement(type: ResourceType, field: string, element: object): Uint8Array<ArrayBuffer> | undefined {
  const list = elementField(type, field);
  if (list === undefined) return undefined;
  try {
    const bytes = toBinary(list.message, fromJson(list.message, element as JsonValue, { registry }));
    return new Uint8Array(new BinaryWriter().tag(list.number, WireType.LengthDelimited).bytes(bytes).finish());
  } catch {
    // As above.
    return undefined;
  }
}

function elementField(type: ResourceType, field: string) {
  const found = schemas[type].fields.find(({ jsonName }) => jsonName === field);
  return found?.fieldKind === "list" && found.listKind === "message" ? found : undefined;
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
    return { "@type": structUrl, value: { [opaque]: value } };
  }
  return mapMembers(value, (member) => hideUnknown(member, unknownTypes));
}

function showUnknown(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(showUnknown);
  if (value === null || typeof value !== "object") return value;
  const wrapper = value["@type"] === structUrl ? value.value : undefined;
  const hidden =
    typeof wrapper === "object" && wrapper !== null && !Array.isArray(wrapper) ? wrapper[opaque] : undefined;
  return hidden ?? mapMembers(value, showUnknown);
}

function mapMembers(value: { [key: string]: JsonValue }, map: (member: JsonValue) => JsonValue): JsonValue {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, map(member)]));
}
