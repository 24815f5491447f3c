import { type DescMessage, fromBinary, toJson } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  type ReflectMessage,
  reflect,
} from "@bufbuild/protobuf/reflect";
import { type Any, type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Resource } from "../../gen/istio/mcp/v1alpha1/resource_pb.ts";
import { causeText } from "../base/cause-text.ts";
import { type Fields, isFields } from "../base/untyped.ts";
import type { McpKind } from "./kinds.ts";

/** A resource as an object of its kind. */
export interface McpObject {
  /** As the source names it. */
  readonly name: string;
  /** For equality only; "" where the source has none. */
  readonly version: string;
  readonly object: Fields;
}

/**
 * `decoded`; or `dropped`: this one resource is no use, and costs itself only; or `refused`: nobody can know what it holds, so the
 * whole answer is to be refused.
 */
export type Decoding =
  | { readonly kind: "decoded"; readonly value: McpObject }
  | { readonly kind: "dropped"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string };

/** @param needsNamespace over xDS a name without a slash is none; in a collection it has no namespace */
export function decodeResource(kind: McpKind, resource: Resource, needsNamespace: boolean): Decoding {
  const { metadata, body } = resource;
  const fullName = metadata?.name ?? "";
  const [namespace, name] = splitName(fullName);
  if (name === "" || (needsNamespace && namespace === "")) {
    return { kind: "dropped", reason: `${JSON.stringify(fullName)} is no name of a ${kind.kind}` };
  }
  const created = timeText(metadata?.createTime);
  if (created === undefined) return { kind: "dropped", reason: `${fullName} was created at no time that there is` };
  const spec = decodeBody(kind, body);
  if (typeof spec === "string") return { kind: "refused", reason: `${fullName}: ${spec}` };
  const object = {
    apiVersion: `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: {
      name,
      ...(namespace === "" ? {} : { namespace }),
      ...textsAs("labels", metadata?.labels),
      ...textsAs("annotations", metadata?.annotations),
      ...(created === "" ? {} : { creationTimestamp: created }),
    },
    spec,
  };
  return { kind: "decoded", value: { name: fullName, version: (metadata?.version ?? "").replace(/\s/g, "_"), object } };
}

function splitName(full: string): readonly [namespace: string, name: string] {
  const slash = full.indexOf("/");
  if (slash < 0) return ["", full];
  const name = full.slice(slash + 1);
  return name.includes("/") ? ["", ""] : [full.slice(0, slash), name];
}

/** "" for none, undefined for one that is outside of what can be written. */
function timeText(time: Timestamp | undefined): string | undefined {
  if (time === undefined) return "";
  const date = timestampDate(time);
  const isWritable = Number.isFinite(date.getTime()) && date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999;
  // As Kubernetes writes it: to the second.
  return isWritable ? date.toISOString().replace(/\.\d+Z$/, "Z") : undefined;
}

function textsAs(field: string, texts: Readonly<Record<string, string>> = {}): Fields {
  return Object.keys(texts).length === 0 ? {} : { [field]: { ...texts } };
}

/** Versions of one kind share their messages. */
const versionInName = /\.v\d+(?:(?:alpha|beta)\d+)?\./;

/** The spec, or what is wrong with the body. */
function decodeBody(kind: McpKind, body: Any | undefined): Fields | string {
  const typeName = body?.typeUrl.split("/").at(-1) ?? "";
  if (
    body === undefined ||
    typeName.replace(versionInName, ".") !== kind.message.typeName.replace(versionInName, ".")
  ) {
    return `its body is ${typeName === "" ? "not there" : `a ${typeName}`}, and no ${kind.message.typeName}`;
  }
  try {
    const message = fromBinary(kind.message, body.value);
    const json = toJson(kind.message, message);
    return isFields(json) ? withUnknownFields(reflect(kind.message, message), json) : "its body is no object";
  } catch (cause) {
    return `its body cannot be read: ${causeText(cause)}`;
  }
}

/** Messages whose JSON is of another form. */
const isWellKnown = ({ typeName }: DescMessage): boolean => typeName.startsWith("google.protobuf.");

/**
 * The JSON of a message with the fields that its type does not have, by number, as `#15`. Whoever reads the object decides about them, as about any
 * other field that is not known: protobuf would drop them in silence.
 */
function withUnknownFields(message: ReflectMessage, json: Fields): Fields {
  const marked: Record<string, unknown> = { ...json };
  for (const { no } of message.getUnknown() ?? []) marked[`#${no}`] = true;
  for (const field of message.fields) {
    if (field.message === undefined || isWellKnown(field.message) || !message.isSet(field)) continue;
    marked[field.jsonName] = withUnknownBelow(message.get(field), json[field.jsonName]);
  }
  return marked;
}

/** Of the value of one field: a message, a list of them, or a map. */
function withUnknownBelow(value: unknown, json: unknown): unknown {
  if (isReflectMessage(value)) return isFields(json) ? withUnknownFields(value, json) : json;
  if (isReflectList(value) && Array.isArray(json)) {
    return json.map((one: unknown, index) => withUnknownBelow(value.get(index), one));
  }
  if (isReflectMap(value) && isFields(json)) {
    return Object.fromEntries(Object.entries(json).map(([key, one]) => [key, withUnknownBelow(value.get(key), one)]));
  }
  return json;
}
