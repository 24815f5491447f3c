import { byCodePoint, type ConfigKey, keyText } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { oneOfLists } from "../mesh/memo/same.ts";
import { step } from "../mesh/memo/step.ts";
import { hashOf } from "../snapshot/blob.ts";
import type { CompiledResource, TextRun } from "../snapshot/compiled.ts";
import { longResource } from "../snapshot/long/long-resource.ts";
import { listMessage, longLength } from "../snapshot/long/pieces.ts";
import type { ResourceType } from "../snapshot/resource-type.ts";
import { binaryForm } from "../xds/descriptors.ts";
import type { Resource } from "../xds/resource.ts";
import { memberText } from "./assignment-apart.ts";
import { type MessageParts, partsOf, type WrittenAs } from "./message-parts.ts";
import { cutMessage, manyElements, textRuns } from "./message-runs.ts";
import { messageText, textAgain, WrittenResource } from "./text-again.ts";

/**
 * A resource as it is stored and sent. Whoever asks remembers it by the resource: the generators keep the identity of what did not change.
 * What several messages have is written once.
 *
 * @param as with protobuf's binary form, where Connect and gRPC are served from it
 * @param parts of the resource, where they are known
 */
export function encodeResource(
  resource: Resource,
  as: WrittenAs,
  memo: Memo,
  parts: MessageParts = partsOf(resource, as, memo),
): CompiledResource {
  const { json, name } = resource;
  const from = textsOf(resource.from, memo);
  const written = writtenMessage(resource, as, memo, parts);
  if (typeof written !== "string") return longResource({ name, from, runs: written });
  const binary = as.withBinary ? binaryForm(as.type, { json }) : undefined;
  const text = textAgain(written, () => messageText(as.type, json));
  return new WrittenResource({ name, version: hashOf(written), from, ...(binary && { binary }) }, text);
}

/** Most resources are made from one object or two: a list of their texts is sooner made than looked up. */
const textsOf = (from: readonly ConfigKey[], memo: Memo): readonly string[] =>
  from.length < manyElements ? sortedTexts(from, memo) : textsOfKeys(memo, { from });

/** A large table was made from all services, and so were those of all namespaces: one list does for them. */
const textsOfKeys = step(
  "texts of keys",
  { from: "identity" },
  ({ from }: { readonly from: readonly ConfigKey[] }, memo: Memo): readonly string[] =>
    // A table names most of its objects more than once.
    oneOfLists(memo, "texts of keys", sortedTexts([...new Set(from)], memo)),
);

/** Each once. */
function sortedTexts(keys: readonly ConfigKey[], memo: Memo): readonly string[] {
  const texts = keys.map((key) => textOfKey(memo, { key }));
  if (texts.length < 2) return texts;
  return texts.sort(byCodePoint).filter((text, at) => text !== texts[at - 1]);
}

const textOfKey = step("text of a key", { key: "identity" }, ({ key }: { readonly key: ConfigKey }) => keyText(key));

/** The text of a message, or the runs of a long one. */
function writtenMessage(
  { json, name }: Resource,
  { type, withBinary }: WrittenAs,
  memo: Memo,
  parts: MessageParts,
): string | readonly TextRun[] {
  switch (parts.kind) {
    case "assignment":
      return textAround(type, parts);
    case "cut":
      return textRuns(parts.cut, memo) ?? messageText(type, json);
    case "whole": {
      const text = messageText(type, json);
      // A list of few elements is cut only if they are long.
      const message = text.length < longLength ? undefined : listMessage(type, json);
      return (message && textRuns(cutMessage({ type, name, message, withBinary }, memo), memo)) ?? text;
    }
  }
}

function textAround(
  type: ResourceType,
  { assignment, around }: Extract<MessageParts, { readonly kind: "assignment" }>,
): string {
  if (around === undefined) return assignment.text();
  return `${messageText(type, around).slice(0, -1)},"loadAssignment":${memberText(assignment.text())}}`;
}
