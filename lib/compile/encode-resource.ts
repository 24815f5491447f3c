import { byCodePoint, type ConfigKey, keyText } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { oneOfLists, oneValue } from "../mesh/memo/same.ts";
import { step } from "../mesh/memo/step.ts";
import { concatBytes, hashOf } from "../snapshot/blob.ts";
import type { CompiledResource, TextRun } from "../snapshot/compiled.ts";
import { longResource, textRun } from "../snapshot/long/long-resource.ts";
import {
  aroundRun,
  cutOrder,
  cutPieces,
  isLong,
  listMessage,
  longLength,
  type Piece,
  pieceOf,
  runText,
} from "../snapshot/long/pieces.ts";
import type { ResourceType } from "../snapshot/resource-type.ts";
import { binaryElement, binaryForm } from "../xds/descriptors.ts";
import type { Resource } from "../xds/resource.ts";
import { assignmentApart, memberText, writtenAssignment } from "./assignment-apart.ts";
import { manyElements, stretchesOf } from "./check-by-elements.ts";
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

interface Encoding {
  readonly type: ResourceType;
  readonly withBinary: boolean;
}

interface EncodeInputs extends Encoding {
  readonly json: Resource["json"];
  readonly name: string;
  /** Classes may share a message that they owe to different objects, so the message alone is no key. */
  readonly from: readonly string[];
}

const encoded = step(
  "encoded resource",
  { type: "value", json: "identity", name: "value", withBinary: "value", from: "identity" },
  ({ json, name, from, ...encoding }: EncodeInputs, memo: Memo): CompiledResource => {
    const written = writtenMessage(json, encoding, memo);
    if (typeof written !== "string") return longResource({ name, from, runs: written });
    const binary = encoding.withBinary ? binaryForm(encoding.type, { json }) : undefined;
    const text = textAgain(written, () => messageText(encoding.type, json));
    return new WrittenResource({ name, version: hashOf(written), from, ...(binary && { binary }) }, text);
  },
);

/** The text of a message, or the runs of a long one. */
function writtenMessage(json: Resource["json"], encoding: Encoding, memo: Memo): string | readonly TextRun[] {
  const { type } = encoding;
  const message = listMessage(type, json);
  if (message === undefined || message.elements.length < manyElements) {
    const text = wholeText(type, json, memo);
    if (message === undefined || text.length < longLength) return text;
  }
  const { field, elements } = message;
  const { names, stretches } = stretchesOf(memo, { elements });
  const pieces = stretches.flatMap((stretch) => writtenStretch(memo, { ...encoding, field, stretch }));
  if (!isLong(message, pieces)) return runText(pieces, message);
  const head = encoding.withBinary ? binaryAround(memo, { type, text: message.before + message.after }) : undefined;
  const runs = cutPieces(pieces, orderOfPieces(memo, { type, names }));
  return runs.map((run, at) =>
    writtenRun(memo, {
      pieces: run,
      ...aroundRun(message, at, runs.length),
      binaryBefore: at === 0 ? head : head && noBytes,
    }),
  );
}

function wholeText(type: ResourceType, json: Resource["json"], memo: Memo): string {
  if (type === "endpoints") return writtenAssignment(memo, { json }).text();
  const apart = assignmentApart(type, json);
  const text = messageText(type, apart?.around ?? json);
  if (apart === undefined) return text;
  const assignment = writtenAssignment(memo, { json: apart.assignment });
  return `${text.slice(0, -1)},"loadAssignment":${memberText(assignment.text())}}`;
}

interface Names {
  readonly type: ResourceType;
  readonly names: readonly string[];
}

/** The tables of all namespaces have the same names as a rule, whatever a change does to their hosts. */
const orderOfPieces = step(
  "order of pieces",
  { names: "identity", type: "value" },
  ({ names, type }: Names): readonly number[] => cutOrder(type, names),
);

const noBytes = new Uint8Array();

/** By what it says, so that the first runs of messages are the same object where they are alike. */
const binaryAround = step(
  "binary form around elements",
  { type: "value", text: "value" },
  ({ type, text }: { readonly type: ResourceType; readonly text: string }) => {
    const { "@type": _type, ...json } = JSON.parse(text);
    return binaryForm(type, { json });
  },
);

interface WrittenPiece extends Piece {
  readonly binary: Uint8Array<ArrayBuffer> | undefined;
}

const writtenStretch = step(
  "stretch of elements",
  { type: "value", field: "value", stretch: "identity", withBinary: "value" },
  (
    { stretch, ...place }: Encoding & Pick<Element, "field"> & { readonly stretch: readonly object[] },
    memo: Memo,
  ): readonly WrittenPiece[] => stretch.map((element) => writtenElement(memo, { ...place, element })),
);

interface Element {
  readonly field: string;
  readonly element: object;
}

const writtenElement = step(
  "element of a resource",
  { type: "value", field: "value", element: "identity", withBinary: "value" },
  ({ type, field, element, withBinary }: Encoding & Element): WrittenPiece => ({
    ...pieceOf(element, JSON.stringify(element)),
    binary: withBinary ? binaryElement(type, field, element) : undefined,
  }),
);

interface Run {
  readonly pieces: readonly WrittenPiece[];
  readonly before: string;
  readonly after: string;
  /** Undefined: the message has no binary form. */
  readonly binaryBefore: Uint8Array<ArrayBuffer> | undefined;
}

const writtenRun = step(
  "run of elements",
  { pieces: "elements", before: "value", after: "value", binaryBefore: "identity" },
  ({ pieces, binaryBefore, ...around }: Run): TextRun => {
    const binaries = [binaryBefore, ...pieces.map(({ binary }) => binary)].filter((part) => part !== undefined);
    return textRun(runText(pieces, around), binaries.length > pieces.length ? concatBytes(binaries) : undefined);
  },
);
