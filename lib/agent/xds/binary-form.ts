import { type DescMessage, fromJson, type JsonObject, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { causeText } from "../../base/cause-text.ts";
import { isRecord } from "../../base/classifier.ts";
import { registry, schemas } from "../../descriptors/registry.ts";
import type { CoreType } from "../../snapshot/resource-type.ts";

/** A message as a stream carries it, or why it has no such form. */
export type BinaryForm = { readonly binary: Uint8Array<ArrayBuffer> } | { readonly problem: string };

/**
 * A resource in protobuf's binary form, without its type. Extensions of a type that this agent has no descriptor of, or that have fields
 * which it does not know, travel as `xds.type.v3.TypedStruct`: Envoy reads their JSON by descriptors of its own, so that none of it is
 * dropped on the way.
 */
export function binaryForm(type: CoreType, resource: JsonObject): BinaryForm {
  const { "@type": _type, ...message } = resource;
  const schema = schemas[type];
  const known = written(schema, message);
  if ("binary" in known) return known;
  const opaque = written(schema, withOpaqueExtensions(message));
  return "binary" in opaque ? opaque : known;
}

function written(schema: DescMessage, message: JsonObject): BinaryForm {
  try {
    return { binary: toBinary(schema, fromJson(schema, message, { registry })) };
  } catch (cause) {
    // The library's only way to say that a value does not fit.
    return { problem: causeText(cause) };
  }
}

const structType = "type.googleapis.com/xds.type.v3.TypedStruct";

/** The outermost Anys of a message in JSON as TypedStructs. */
function withOpaqueExtensions(message: JsonObject): JsonObject {
  const walk = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(walk);
    if (!isRecord(value)) return value;
    const { "@type": typeUrl, ...fields } = value;
    if (typeof typeUrl === "string" && typeUrl !== structType) return { "@type": structType, typeUrl, value: fields };
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, walk(member)]));
  };
  return Object.fromEntries(Object.entries(message).map(([key, member]) => [key, walk(member)]));
}
