import { byCodePoint, type ConfigKey, keyText } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { oneOfLists, oneValue } from "../mesh/memo/same.ts";
import { step } from "../mesh/memo/step.ts";
import { hashOf } from "../snapshot/blob.ts";
import type { CompiledResource, TextRun } from "../snapshot/compiled.ts";
import { longResource } from "../snapshot/long/long-resource.ts";
import { listMessage, longLength } from "../snapshot/long/pieces.ts";
import type { ResourceType } from "../snapshot/resource-type.ts";
import { binaryForm } from "../xds/descriptors.ts";
import type { Resource } from "../xds/resource.ts";
import { assignmentApart, memberText, writtenAssignment } from "./assignment-apart.ts";
import { cutMessage, manyElements, textRuns } from "./message-runs.ts";
import { messageText, textAgain, WrittenResource } from "./text-again.ts";

/**
 * A resource as it is stored and sent. Encoded once: the generators keep the identity of what did not change, and so does
 * this. Of a message with a long list each element is encoded once, whichever messages have it.
 *
 * @param withBinary adds protobuf's binary form, which Connect and gRPC are served from
 */
export function encodeResource(
  type: ResourceType,
  { json, name, from }: Resource,
  withBinary: boolean,
  memo: Memo,
): CompiledResource {
  return encoded(memo, { type, json, name, withBinary, from: textsOfKeys(memo, { from }) });
}

/** A large table was made from all services, and so were those of all namespaces: one list does for them. */
const textsOfKeys = step(
  "texts of keys",
  { from: "identity" },
  ({ from }: { readonly from: readonly ConfigKey[] }, memo: Memo): readonly string[] => {
    const textOf = (key: ConfigKey) => textOfKey(memo, { key });
    // A table names most of its objects more than once, and most others are made from one.
    const texts =
      from.length === 1 ? from.map(textOf) : [...new Set(Array.from(new Set(from), textOf))].sort(byCodePoint);
    return texts.length <= manyElements ? oneValue(memo, texts) : oneOfLists(memo, "texts of keys", texts);
  },
);

const textOfKey = step("text of a key", { key: "identity" }, ({ key }: { readonly key: ConfigKey }) => keyText(key));

interface EncodeInputs {
  readonly type: ResourceType;
  readonly withBinary: boolean;
  readonly json: Resource["json"];
  readonly name: string;
  /** Classes may share a message that they owe to different objects, so the message alone is no key. */
  readonly from: readonly string[];
}

const encoded = step(
  "encoded resource",
  { type: "value", json: "identity", name: "value", withBinary: "value", from: "identity" },
  ({ from, ...message }: EncodeInputs, memo: Memo): CompiledResource => {
    const { type, json, name, withBinary } = message;
    const written = writtenMessage(message, memo);
    if (typeof written !== "string") return longResource({ name, from, runs: written });
    const binary = withBinary ? binaryForm(type, { json }) : undefined;
    const text = textAgain(written, () => messageText(type, json));
    return new WrittenResource({ name, version: hashOf(written), from, ...(binary && { binary }) }, text);
  },
);

/** The text of a message, or the runs of a long one. */
function writtenMessage(
  { type, json, name, withBinary }: Omit<EncodeInputs, "from">,
  memo: Memo,
): string | readonly TextRun[] {
  const message = listMessage(type, json);
  if (message === undefined) return wholeText(type, json, memo);
  // A list of few elements is cut only if they are long.
  const text = message.elements.length < manyElements ? wholeText(type, json, memo) : undefined;
  if (text !== undefined && text.length < longLength) return text;
  const cut = cutMessage({ type, name, message, withBinary }, memo);
  return textRuns(cut, memo) ?? text ?? wholeText(type, json, memo);
}

function wholeText(type: ResourceType, json: Resource["json"], memo: Memo): string {
  if (type === "endpoints") return writtenAssignment(memo, { json }).text();
  const apart = assignmentApart(type, json);
  const text = messageText(type, apart?.around ?? json);
  if (apart === undefined) return text;
  const assignment = writtenAssignment(memo, { json: apart.assignment });
  return `${text.slice(0, -1)},"loadAssignment":${memberText(assignment.text())}}`;
}
