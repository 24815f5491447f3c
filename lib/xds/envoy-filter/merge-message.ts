/**
 * Protobuf's merge, on JSON: set fields win, messages merge, lists append, maps merge by key, a oneof keeps one member.
 * Two of its corners matter to operators: a wrapper that holds zero or false is "not set" and leaves the base alone, and a
 * duration is replaced as a whole (which is Istio's own exception).
 * @see docs/how-istio-does-it/envoy-filters.md#merging
 */
import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { messageOfType } from "../../descriptors/messages.ts";

export interface MergeOptions {
  /** `MERGE_AND_REPLACE_LIST`: a list in the patch takes the place of the base's. */
  readonly replacesLists: boolean;
}

type JsonObject = { [key: string]: JsonValue };

/**
 * The objects and lists that earlier merges into one resource have copied: later merges extend them in place. So many patches of one
 * resource cost what they say, not a copy of what has grown so far for each of them.
 */
export type Copies = WeakSet<object>;

/**
 * Both in canonical JSON of the same message. The patch is never changed; of the base only what is in `copies` is.
 *
 * @param copies of the resource that the base is a state of, from its first merge to its last
 */
export function mergeMessage<T extends object>(
  desc: DescMessage,
  base: T,
  patch: object,
  options: MergeOptions,
  copies: Copies = new WeakSet(),
): T {
  // Generated Json types are plain JSON, and merging two values of one message gives a value of it.
  return mergeFields(desc, base as JsonObject, patch as JsonObject, { ...options, copies }) as T;
}

/**
 * Merges inside two Anys, as for the configuration of a filter. Of the addresses of types only the names count. Lists append here,
 * whatever the operation of the patch.
 *
 * @returns undefined where that is impossible: of different types, or of one that we have no descriptor for
 */
export function mergeAny<T extends object>(base: T, patch: object, copies?: Copies): T | undefined {
  const type = typeOf(base);
  const desc = type === undefined ? undefined : messageOfType(type);
  if (desc === undefined || desc !== messageOfType(typeOf(patch) ?? "")) return undefined;
  return mergeMessage(desc, base, patch, { replacesLists: false }, copies);
}

interface Merging extends MergeOptions {
  readonly copies: Copies;
}

function typeOf(any: object): string | undefined {
  return "@type" in any && typeof any["@type"] === "string" ? any["@type"] : undefined;
}

function mergeFields(desc: DescMessage, base: JsonObject, patch: JsonObject, options: Merging): JsonObject {
  const merged = ownObject(base, options);
  for (const field of desc.fields) {
    const name = field.jsonName;
    const value = patch[name];
    if (value === undefined) continue;
    for (const sibling of field.oneof?.fields ?? []) {
      if (sibling !== field) delete merged[sibling.jsonName];
    }
    const own = merged[name];
    merged[name] = own === undefined ? value : mergeValue(field, own, value, options);
  }
  return merged;
}

function mergeValue(field: DescField, own: JsonValue, value: JsonValue, options: Merging): JsonValue {
  switch (field.fieldKind) {
    case "list":
      return appended(own, value, options);
    case "map":
      return united(own, value, options);
    case "message":
      return mergeMember(field.message, own, value, options);
    default:
      return value;
  }
}

function mergeMember(desc: DescMessage, own: JsonValue, value: JsonValue, options: Merging): JsonValue {
  switch (desc.typeName) {
    case "google.protobuf.Struct":
      return united(own, value, options);
    case "google.protobuf.ListValue":
      return appended(own, value, options);
    case "google.protobuf.Value":
    case "google.protobuf.Any":
    case "google.protobuf.Duration":
    case "google.protobuf.Timestamp":
      return value;
    default:
  }
  if (/^google\.protobuf\.\w+Value$/.test(desc.typeName)) return isZero(value) ? own : value;
  return mergeFields(desc, asObject(own), asObject(value), options);
}

function isZero(value: JsonValue): boolean {
  return value === 0 || value === false || value === "" || value === "0";
}

function appended(own: JsonValue, value: JsonValue, { replacesLists, copies }: Merging): JsonValue {
  if (replacesLists || !Array.isArray(own) || !Array.isArray(value)) return value;
  const list = copies.has(own) ? own : [...own];
  copies.add(list);
  for (const element of value) list.push(element);
  return list;
}

function united(own: JsonValue, value: JsonValue, options: Merging): JsonValue {
  const both = ownObject(asObject(own), options);
  for (const [key, member] of Object.entries(asObject(value))) {
    // Assigned, this one name would change what the object is.
    if (key === "__proto__") Object.defineProperty(both, key, { value: member, ...plainProperty });
    else both[key] = member;
  }
  return both;
}

const plainProperty = { writable: true, enumerable: true, configurable: true };

/** The object itself where an earlier merge has made it. */
function ownObject(base: JsonObject, { copies }: Merging): JsonObject {
  const own = copies.has(base) ? base : { ...base };
  copies.add(own);
  return own;
}

function asObject(value: JsonValue): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
