/** Messages in an Any: of a type that is known, or that is passed on as it is written. */
import type { DescMessage, JsonValue } from "@bufbuild/protobuf";
import { registry } from "../registry.ts";
import { isGoneType, isTypeOfEnvoy, renamedType } from "./envoy-types.ts";
import { hideMessage } from "./hidden-message.ts";
import { isMembers, type Members } from "./members.ts";
import { type ProblemList, quoted, type ValuePath } from "./value-problem.ts";

/** Reads a message, or what has a JSON form of its own. `undefined`: it is invalid, which has been noted. */
export type ReadMessage = (
  schema: DescMessage,
  json: JsonValue,
  path: ValuePath,
  depth: number,
) => JsonValue | undefined;

const typeHint = 'name the type of the configuration: "@type": type.googleapis.com/envoy.extensions…';

/** @returns undefined for what is none, which has been noted */
export function readAny(
  json: JsonValue,
  path: ValuePath,
  depth: number,
  list: ProblemList,
  read: ReadMessage,
): JsonValue | undefined {
  const none = (at: ValuePath, reason: string, hint: string): undefined => {
    list.add("invalid", at, reason, hint);
  };
  if (json !== null && !isMembers(json))
    return none(path, `must be an object with a "@type", not ${quoted(json)}`, typeHint);
  const { "@type": written, ...fields } = json ?? {};
  if (written === undefined || written === null || written === "")
    return none(path, `${Object.keys(fields).length === 0 ? "is empty: it" : "it"} needs a "@type"`, typeHint);
  const at = [...path, "@type"];
  if (typeof written !== "string") return none(at, `must be a string, not ${quoted(written)}`, typeHint);
  const name = written.slice(written.lastIndexOf("/") + 1);
  // Envoy reads an address without a host in binary form only.
  const url = written.lastIndexOf("/") > 0 ? written : `type.googleapis.com/${name}`;
  const schema = registry.getMessage(name);
  if (schema === undefined) {
    noteType(name, at, list);
    return hideMessage({ ...fields, "@type": url });
  }
  if (schema.typeName.endsWith(".TypedStruct")) noteTypedStruct(fields, path, { list, read, depth });
  const isWrapped = hasValueField(schema.typeName);
  if (isWrapped && fields.value === undefined)
    return none(path, `needs a "value" beside its @type ${name}`, "write what the message holds as value");
  const value = isWrapped
    ? read(schema, fields.value ?? null, [...path, "value"], depth + 1)
    : read(schema, fields, path, depth + 1);
  if (value === undefined) return undefined;
  const isPlain = isMembers(value) && !hasOwnForm(schema.typeName);
  return isPlain ? { "@type": url, ...value } : { "@type": url, value };
}

function noteType(name: string, at: ValuePath, list: ProblemList): void {
  if (isGoneType(name)) {
    const today = renamedType(name);
    const hint =
      today === undefined ? "write the type of the v3 API that took its place" : `write type.googleapis.com/${today}`;
    list.add("gone-type", at, `${name} is a type of Envoy's v2 API, which current Envoys do not have`, hint);
  } else if (isTypeOfEnvoy(name)) {
    list.add("unchecked-type", at, `the fields of ${name} are not known here, so the value is passed on unchecked`);
  } else {
    const hint =
      "check the spelling; if the proxies have this extension, set `acceptUnknownTypes: true` in portolan.yaml of the primary source, a folder that is pushed";
    list.add("unknown-type", at, `${name} is not a known type`, hint);
  }
}

/** Envoy looks for the extension of the type that such a struct names, and reads the struct as its configuration. */
function noteTypedStruct(
  fields: Members,
  path: ValuePath,
  { list, read, depth }: { readonly list: ProblemList; readonly read: ReadMessage; readonly depth: number },
): void {
  const field = fields.typeUrl === undefined ? "type_url" : "typeUrl";
  const url = fields[field];
  const name = typeof url === "string" ? url.slice(url.lastIndexOf("/") + 1) : "";
  if (isGoneType(name)) noteType(name, [...path, field], list);
  const schema = registry.getMessage(name);
  // It is passed on as it is written, whatever is read of it.
  if (schema !== undefined && isMembers(fields.value)) read(schema, fields.value, [...path, "value"], depth + 1);
}

/** What stands under `value` in an Any, as Istio's decoder has it. */
const hasValueField = (typeName: string): boolean =>
  /^google\.protobuf\.(?:Empty|Any|\w*Value|Duration|Timestamp|Struct)$/.test(typeName);

/** The same, as all others have it. */
const hasOwnForm = (typeName: string): boolean =>
  /^google\.protobuf\.(?:FieldMask|Any|\w*Value|Duration|Timestamp|Struct)$/.test(typeName);
