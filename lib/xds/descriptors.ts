/**
 * Resources by Envoy's descriptors. The generators build plain JSON; here it is checked, once per resource, and brought into binary form.
 * @see docs/decisions/001-envoy-types-from-npm.md
 */

import { type DescMessage, fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { ConfigKey, Diagnostic } from "../base/diagnostic.ts";
import { canonicalMessage, hasForm, messageProblem, type Reader } from "../descriptors/messages.ts";
import { registry, schemas } from "../descriptors/registry.ts";
import type { Resource, ResourceType } from "./resource.ts";

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
