import { hashOf } from "../../base/blob.ts";
import { byCodePoint, type ConfigKey, keyText } from "../../base/diagnostic.ts";
import { internLongList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { CompiledResource, TextChunk } from "../../snapshot/compiled.ts";
import { listMessage, longLength } from "../../snapshot/long/cut-chunks.ts";
import { longResource } from "../../snapshot/long/long-resource.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import { binaryForm } from "../../xds/descriptors.ts";
import type { Resource } from "../../xds/resource.ts";
import { EvictableText, messageText, WrittenResource } from "./evictable-text.ts";
import { type MessageParts, partsOf, type WrittenAs } from "./message-parts.ts";
import { cutMessage, manyElements, textChunks } from "./message-runs.ts";
import { memberText, type WrittenAssignment } from "./written-assignment.ts";

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
  if (!(written instanceof EvictableText)) return longResource({ name, from, runs: written });
  const binary = as.withBinary ? binaryForm(as.type, { json }) : undefined;
  return new WrittenResource({ name, version: hashOf(written.text), from, ...(binary && { binary }) }, written);
}

/** Most resources are made from one object or two: a list of their texts is sooner made than looked up. */
const textsOf = (from: readonly ConfigKey[], memo: Memo): readonly string[] =>
  from.length < manyElements ? sortedTexts(from, memo) : textsOfKeys(memo, { from });

/** A large table was made from all services, and so were those of all namespaces: one list does for them. */
const textsOfKeys = query(
  "texts of keys",
  ({ from }: { readonly from: readonly ConfigKey[] }, memo: Memo): readonly string[] =>
    // A table names most of its objects more than once.
    internLongList(
      memo,
      "texts of keys",
      [...new Set(Array.from(new Set(from), (key) => textOfKey(memo, { key })))].sort(byCodePoint),
    ),
);

/** Of few keys, each once: sorted as they come, which costs less than a set. */
function sortedTexts(keys: readonly ConfigKey[], memo: Memo): readonly string[] {
  const texts: string[] = [];
  for (const key of keys) {
    const text = textOfKey(memo, { key });
    let at = texts.length;
    while (at > 0 && byCodePoint(texts[at - 1] ?? "", text) > 0) at -= 1;
    if (texts[at - 1] !== text) texts.splice(at, 0, text);
  }
  return texts;
}

const textOfKey = query("text of a key", ({ key }: { readonly key: ConfigKey }) => keyText(key));

/** The text of a message, or the runs of a long one. */
function writtenMessage(
  { json, name }: Resource,
  { type, withBinary }: WrittenAs,
  memo: Memo,
  parts: MessageParts,
): EvictableText | readonly TextChunk[] {
  switch (parts.kind) {
    case "assignment":
      return parts.around === undefined
        ? parts.assignment.written
        : new EvictableText(type, json, textAround(type, parts.around, parts.assignment));
    case "cut":
      return textChunks(parts.cut, memo) ?? new EvictableText(type, json);
    case "whole": {
      const text = messageText(type, json);
      // A list of few elements is cut only if they are long.
      const message = text.length < longLength ? undefined : listMessage(type, json);
      const runs = message && textChunks(cutMessage({ type, name, message, withBinary }, memo), memo);
      return runs ?? new EvictableText(type, json, text);
    }
  }
}

const textAround = (type: ResourceType, around: object, { written }: WrittenAssignment): string =>
  `${messageText(type, around).slice(0, -1)},"loadAssignment":${memberText(written.text)}}`;
