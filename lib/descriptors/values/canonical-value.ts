import { type DescMessage, fromJson, type JsonValue, type MessageJsonType, toJson } from "@bufbuild/protobuf";
import { causeText } from "../../base/cause-text.ts";
import { registry } from "../registry.ts";
import { hiddenMessage } from "./hidden-message.ts";
import { isMembers } from "./members.ts";
import { readValue } from "./read-value.ts";
import type { ValueProblem } from "./value-problem.ts";

/** The value of a patch, read. */
export interface CanonicalValue<Json> {
  /** As the generators write messages, Anys of unknown types as they were written; undefined where a problem makes that impossible. */
  readonly json: Json | undefined;
  readonly problems: readonly ValueProblem[];
}

/** Problems for which a value is of no use. */
export const isFatal = ({ kind }: ValueProblem): boolean => kind === "invalid" || kind === "gone-type";

/**
 * Reads the value of a patch as Istio does, and writes it as the generators write messages: camelCase, enums by name, canonical
 * durations, nothing that is its default. Unknown fields are dropped.
 */
export function canonicalValue<Desc extends DescMessage>(
  schema: Desc,
  value: unknown,
): CanonicalValue<MessageJsonType<Desc>> {
  const { json: read, problems } = readValue(schema, asJson(value));
  if (problems.some(isFatal)) return { json: undefined, problems };
  try {
    const json = asWritten(toJson(schema, fromJson(schema, read, { registry }), { registry }), read);
    // Nothing but Anys that were hidden, and addresses of types, has been put back, so it still is the message's JSON.
    return { json: json as MessageJsonType<Desc>, problems };
  } catch (error) {
    // The library's only way to say that a value does not fit.
    const problem = { kind: "invalid", path: [], reason: causeText(error), hint: "" } as const;
    return { json: undefined, problems: [...problems, problem] };
  }
}

/** Plain data is JSON but for numbers that JSON cannot write, which protobuf has as texts. */
function asJson(value: unknown): JsonValue {
  const finite = (_: string, member: unknown) =>
    typeof member === "number" && !Number.isFinite(member) ? String(member) : member;
  const copy: JsonValue = JSON.parse(JSON.stringify(value, finite));
  return copy;
}

/**
 * Puts back what the library does not keep: messages of unknown types, and hosts of types' addresses other than the usual one.
 *
 * @param read what the library was given
 */
function asWritten(json: JsonValue, read: JsonValue | undefined): JsonValue {
  if (Array.isArray(json))
    return json.map((element, index) => asWritten(element, Array.isArray(read) ? read[index] : undefined));
  if (!isMembers(json)) return json;
  const hidden = hiddenMessage(json);
  if (hidden !== undefined) return hidden;
  const from = isMembers(read) ? read : {};
  const entries = Object.entries(json).map(
    ([name, member]) => [name, name === "@type" ? (from[name] ?? member) : asWritten(member, from[name])] as const,
  );
  return Object.fromEntries(entries);
}
