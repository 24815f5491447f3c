import { concatBytes } from "../../base/blob.ts";
import { arrayOf } from "../../config/chunked-list.ts";
import { lazily } from "../../incremental/lazy.ts";
import { predecessorOf, type ReadonlyList } from "../../incremental/list-delta.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { type Run, runs } from "../../incremental/runs.ts";
import type { TextChunk } from "../../snapshot/compiled.ts";
import {
  aroundChunk,
  chunkText,
  cutOrder,
  endOfChunk,
  type ListElement,
  type ListMessage,
  listElementOf,
  longLength,
  nameOf,
} from "../../snapshot/long/cut-chunks.ts";
import { textChunk } from "../../snapshot/long/long-resource.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import { binaryElement, binaryForm, fitsElement } from "../../xds/descriptors.ts";

/** Lists from this length on are gone over in runs, each of which is remembered: shorter ones cost less than that. */
export const manyElements = 32;

/** A message with a list that can make it long, and the runs of that list's elements. */
export interface CutMessage {
  readonly message: ListMessage<ReadonlyList<object>>;
  /** Its binary form but for the elements; undefined where it has none. */
  readonly binaryBefore: Uint8Array<ArrayBuffer> | undefined;
  /** In the order in which they are cut. */
  readonly runs: readonly Run<object, WrittenPieces>[];
}

/** A run of elements: checked, and written once for all messages that have it. */
interface WrittenPieces {
  readonly pieces: readonly WrittenPiece[];
  /** In UTF-16 code units, with a comma for each piece. */
  readonly length: number;
  /** Whether Envoy takes them, for their form. */
  readonly isSound: boolean;
  /** The run as it is between others. */
  readonly inner: () => TextChunk;
}

interface Uncut {
  readonly type: ResourceType;
  /** Messages of one name have elements of the same names, as a rule. */
  readonly name: string;
  readonly message: ListMessage<ReadonlyList<object>>;
  readonly withBinary: boolean;
}

export function cutMessage({ type, name, message, withBinary }: Uncut, memo: Memo): CutMessage {
  const { field, elements, before, after } = message;
  const binaryBefore = withBinary ? binaryAround(memo, { type, text: before + after }) : undefined;
  const cut = elementRuns(memo, { type, field, name, elements, withBinary: binaryBefore !== undefined });
  return { message, binaryBefore, runs: cut };
}

/** The runs of a message that is long enough to be stored in runs, as they are stored; undefined for one that is not. */
export function textChunks(
  { message, binaryBefore, runs: cut }: CutMessage,
  memo: Memo,
): readonly TextChunk[] | undefined {
  const length = cut.reduce((sum, { made }) => sum + made.length, message.before.length + message.after.length - 1);
  if (length < longLength) return undefined;
  return cut.map(({ made }, at) =>
    at > 0 && at < cut.length - 1
      ? made.inner()
      : outerRun(memo, {
          pieces: made.pieces,
          ...aroundChunk(message, at, cut.length),
          binaryBefore: at === 0 ? binaryBefore : binaryBefore && noBytes,
        }),
  );
}

const noBytes = new Uint8Array();

/** By what it says, so that the first runs of messages are the same object where they are alike. */
const binaryAround = query(
  "binary form around elements",
  ({ type, text }: { readonly type: ResourceType; readonly text: string }) => {
    const { "@type": _type, ...json } = JSON.parse(text);
    return binaryForm(type, { json });
  },
);

interface Encoding {
  readonly type: ResourceType;
  readonly field: string;
  readonly withBinary: boolean;
}

interface Elements extends Encoding, Pick<Uncut, "name"> {
  readonly elements: ReadonlyList<object>;
}

const elementRuns = query(
  "runs of elements",
  ({ name, elements, ...encoding }: Elements, memo: Memo): readonly Run<object, WrittenPieces>[] => {
    const names = namesOf(elements, name, encoding.type, memo);
    const order = orderOfElements(memo, { type: encoding.type, names });
    return writtenRuns(memo, elements, order, encoding);
  },
);

/** The names of lists that are in use. */
const knownNames = new WeakMap<ReadonlyList<object>, readonly string[]>();

/** The tables of all namespaces have the same names as a rule, whatever a change does to their hosts. */
function namesOf(elements: ReadonlyList<object>, message: string, type: ResourceType, memo: Memo): readonly string[] {
  const before = predecessorOf(elements);
  const known = before && knownNames.get(before.list);
  const areSame =
    known !== undefined && before?.places.every((at) => nameOf(elements.at(at) ?? {}) === known[at]) === true;
  const names = areSame ? known : namesOfEach(memo, `${type}|${message}|${elements.length}`, arrayOf(elements), {});
  knownNames.set(elements, names);
  return names;
}

const namesOfEach = mappedList("names of a message's elements", (element: object): string => nameOf(element));

interface Names {
  readonly type: ResourceType;
  readonly names: readonly string[];
}

const orderOfElements = query("order of elements", ({ names, type }: Names): readonly number[] =>
  cutOrder(type, names),
);

const writtenRuns = runs(
  "written runs of elements",
  {},
  (elements: readonly object[], from: number, encoding: Encoding, memo: Memo) =>
    endOfChunk(elements, from, (element) => writtenElement(memo, { ...encoding, element })),
  (run: readonly object[], encoding: Encoding, memo: Memo): WrittenPieces => {
    const pieces = run.map((element) => writtenElement(memo, { ...encoding, element }));
    return {
      pieces,
      length: pieces.reduce((sum, { text }) => sum + text.length + 1, 0),
      isSound: pieces.every(({ isSound }) => isSound),
      inner: lazily(() =>
        writtenRun({ pieces, before: "", after: ",", binaryBefore: encoding.withBinary ? noBytes : undefined }),
      ),
    };
  },
);

interface WrittenPiece extends ListElement {
  readonly isSound: boolean;
  readonly binary: Uint8Array<ArrayBuffer> | undefined;
}

const writtenElement = query(
  "written element",
  ({ type, field, element, withBinary }: Encoding & { readonly element: object }): WrittenPiece => ({
    ...listElementOf(element, JSON.stringify(element)),
    isSound: fitsElement(type, field, element),
    binary: withBinary ? binaryElement(type, field, element) : undefined,
  }),
);

interface RunParts {
  readonly pieces: readonly WrittenPiece[];
  readonly before: string;
  readonly after: string;
  /** Undefined: the message has no binary form. */
  readonly binaryBefore: Uint8Array<ArrayBuffer> | undefined;
}

const outerRun = query("first or last run of elements", (parts: RunParts): TextChunk => writtenRun(parts));

function writtenRun({ pieces, binaryBefore, ...around }: RunParts): TextChunk {
  const binaries = [binaryBefore, ...pieces.map(({ binary }) => binary)].filter((part) => part !== undefined);
  return textChunk(chunkText(pieces, around), binaries.length > pieces.length ? concatBytes(binaries) : undefined);
}
