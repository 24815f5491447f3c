import { hashOf } from "../base/blob.ts";
import { cutEvenly } from "../base/cut-evenly.ts";
import { nameHash } from "../base/name-hash.ts";
import { utf8Length } from "../base/utf8-length.ts";
import type { DocumentRef } from "./compiled-legacy.ts";
import type { Chunk, ChunkList, Composition, CompositionPart } from "./composition.ts";
import type { ListForm } from "./listed-texts.ts";
import { hasHoles } from "./template.ts";

/** Documents up to this length are stored as they are, in UTF-16 code units. */
const shortLength = 16 * 1024;

/** About so long is a chunk, in UTF-16 code units; one element alone may be longer. */
const chunkLength = 16 * 1024;

/** A longer composition would say most of the document itself: it gets chunks of its own instead. */
const longestComposition = 128 * 1024;

/** Elements of a list that many documents have, as chunks. */
export interface SharedElements {
  /** Their texts, in order. */
  readonly elements: readonly string[];
  /** Place of an element by its text. */
  readonly places: ReadonlyMap<string, number>;
  /** Blob of the list of chunks. */
  readonly list: string;
  /** In the chunks: where an element begins, by its place. One more than there are elements; a comma stands before each but the first. */
  readonly offsets: readonly number[];
  /** The list and the chunks, by their hashes. */
  readonly texts: ReadonlyMap<string, string>;
}

/** @param elements as they stand in the documents, without commas between them */
export function shareElements(elements: readonly string[]): SharedElements {
  const texts = new Map<string, string>();
  const runs = cutEvenly(elements, chunkLength, {
    weight: ({ length }) => length,
    hash: (text) => nameHash(text),
  });
  const chunks = runs.map((run, at): Chunk => {
    const text = run.join() + (at === runs.length - 1 ? "" : ",");
    const hash = hashOf(text);
    texts.set(hash, text);
    return { text: hash, bytes: utf8Length(text), ...(hasHoles(text) ? { holes: true } : {}) };
  });
  const list = JSON.stringify({ chunks } satisfies ChunkList);
  const offsets = [0];
  for (const text of elements) offsets.push((offsets.at(-1) ?? 0) + utf8Length(text) + 1);
  const name = hashOf(list);
  texts.set(name, list);
  return { elements, places: new Map(elements.map((text, at) => [text, at])), list: name, offsets, texts };
}

/** An element's text, or a range of the shared elements: the first place, and the one behind the last. */
export type ComposedItem = string | readonly [from: number, to: number];

/** A document as it is stored. */
export interface ComposedDocument {
  readonly ref: DocumentRef;
  /** The text that the reference names. */
  readonly text: string;
  /** What that names in turn; absent: nothing. */
  readonly shared?: SharedElements;
}

/** A document with one long list. @param shared what ranges among the items mean */
export function composeDocument(
  form: ListForm,
  all: readonly ComposedItem[],
  shared: SharedElements = nothingShared,
): ComposedDocument {
  const items = all.filter((item) => typeof item === "string" || item[0] < item[1]);
  const resources = items.reduce((sum, item) => sum + (typeof item === "string" ? 1 : item[1] - item[0]), 0);
  if (resources === 0) return shortDocument(form.empty, resources);
  const length = items.reduce((sum, item) => sum + lengthOf(item, shared), 0);
  if (length <= shortLength) {
    return shortDocument(form.before + textsOf(items, shared).join() + form.after, resources);
  }
  const composition: Composition = { chunks: shared.list, parts: partsOf(form, items, shared) };
  const text = JSON.stringify(composition);
  if (text.length <= longestComposition) return { ref: { composition: hashOf(text), resources }, text, shared };
  const own = shareElements(textsOf(items, shared));
  return composeDocument(form, [[0, own.elements.length]], own);
}

/** A document of which no other has most. */
export function composeAlone(form: ListForm, elements: readonly string[]): ComposedDocument {
  const length = elements.reduce((sum, text) => sum + text.length, 0);
  if (length <= shortLength) return composeDocument(form, elements);
  return composeDocument(form, [[0, elements.length]], shareElements(elements));
}

/** All texts that documents name, by their hashes. */
export function textsOfDocuments(documents: Iterable<ComposedDocument>): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const seen = new Set<SharedElements>();
  for (const { ref, text, shared } of documents) {
    texts.set(ref.composition ?? ref.text, text);
    if (shared === undefined || seen.has(shared)) continue;
    seen.add(shared);
    for (const [hash, chunk] of shared.texts) texts.set(hash, chunk);
  }
  return texts;
}

const nothingShared = shareElements([]);

/** A document that is stored as it is. */
export const shortDocument = (text: string, resources: number): ComposedDocument => ({
  ref: { text: hashOf(text), resources },
  text,
});

const textsOf = (items: readonly ComposedItem[], { elements }: SharedElements): readonly string[] =>
  items.flatMap((item) => (typeof item === "string" ? item : elements.slice(item[0], item[1])));

/** At least so long is an item's text. */
const lengthOf = (item: ComposedItem, { offsets }: SharedElements): number =>
  typeof item === "string" ? item.length : (offsets[item[1]] ?? 0) - (offsets[item[0]] ?? 0);

/** Neighbours become one part. */
function partsOf(
  form: ListForm,
  items: readonly ComposedItem[],
  { offsets }: SharedElements,
): readonly CompositionPart[] {
  const parts: CompositionPart[] = [];
  let own = form.before;
  let range: readonly [from: number, to: number] | undefined;
  const endRange = (): void => {
    // The comma behind its last element is not part of it.
    if (range !== undefined) parts.push([offsets[range[0]] ?? 0, (offsets[range[1]] ?? 0) - 1]);
    range = undefined;
  };
  for (const [at, item] of items.entries()) {
    if (typeof item === "string") {
      endRange();
      own += at === 0 ? item : `,${item}`;
    } else if (range !== undefined && range[1] === item[0]) range = [range[0], item[1]];
    else {
      endRange();
      parts.push(at === 0 ? own : `${own},`);
      own = "";
      range = item;
    }
  }
  endRange();
  parts.push(own + form.after);
  return parts;
}
