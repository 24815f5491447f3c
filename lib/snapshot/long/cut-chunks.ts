/**
 * What long resources are cut into. A route table of a thousand hosts changes in one of them, and the tables of twenty namespaces
 * are nearly the same: so its text is made of runs of hosts, which tables share, and its version is made of theirs. How a text is cut
 * follows from the text alone.
 * @see docs/decisions/015-pieces.md
 */

import { hashOf } from "../../base/blob.ts";
import { cutEvenly, endOfRun } from "../../base/cut-evenly.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import { nameHash } from "../../base/name-hash.ts";
import { predecessorOf, type ReadonlyList } from "../../incremental/list-delta.ts";
import { type ResourceType, typeUrlOf } from "../resource-type.ts";

/** Texts from this length on are cut, in UTF-16 code units. */
export const longLength = 64 * 1024;

/** About so long is a run. */
const runLength = 16 * 1024;

/** The fields that can make a message long, by their names in JSON. */
const listFields: Readonly<Record<ResourceType, string | undefined>> = {
  clusters: undefined,
  endpoints: undefined,
  extension_configs: undefined,
  listeners: "filterChains",
  name_tables: undefined,
  routes: "virtualHosts",
};

/** A message with a list that can make it long. */
export interface ListMessage<L extends ReadonlyList<object> = readonly object[]> {
  readonly field: string;
  /** At least one. */
  readonly elements: L;
  /** The message with the list empty. */
  readonly around: object;
  /** Its text up to the first element. */
  readonly before: string;
  /** Its text from the end of the last element on. */
  readonly after: string;
}

/** The elements of the list that can make a message long; none where it has no such list. */
export function listedElements(type: ResourceType, json: object): readonly object[] {
  const field = listFields[type];
  const elements: unknown = field === undefined ? undefined : Reflect.get(json, field);
  return isObjects(elements) ? elements : [];
}

/** @returns undefined for a message that has no list that it could be cut in */
export function listMessage(type: ResourceType, json: object): ListMessage | undefined {
  const field = listFields[type];
  const elements = listedElements(type, json);
  if (field === undefined || elements.length === 0) return undefined;
  return messageAround(type, { field, elements, around: { ...json, [field]: [] } });
}

/** @param list whose field `around` has */
export function messageAround<L extends ReadonlyList<object>>(
  type: ResourceType,
  list: Pick<ListMessage<L>, "field" | "elements" | "around">,
): ListMessage<L> {
  const { field, around } = list;
  const members = Object.entries(around);
  const at = members.findIndex(([name]) => name === field);
  const typed = Object.hasOwn(around, "@type") ? {} : { "@type": typeUrlOf(type) };
  const head = JSON.stringify({ ...typed, ...Object.fromEntries(members.slice(0, at)), [field]: [] });
  const tail = JSON.stringify(Object.fromEntries(members.slice(at + 1)));
  return { ...list, before: head.slice(0, -"]}".length), after: tail === "{}" ? "]}" : `],${tail.slice(1)}` };
}

/** Lists of objects, as far as they were looked at. */
const lists = new WeakSet<readonly unknown[]>();

function isObjects(value: unknown): value is readonly object[] {
  if (!Array.isArray(value)) return false;
  if (lists.has(value)) return true;
  const before = predecessorOf<readonly unknown[]>(value);
  const areObjects =
    before !== undefined && lists.has(before.list)
      ? before.places.every((at) => isObject(value[at]))
      : value.every(isObject);
  if (areObjects) lists.add(value);
  return areObjects;
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

/** An element of such a list: tables of all namespaces have it, and are cut by it. */
export interface ListElement {
  /** Its JSON. */
  readonly text: string;
  /** Of its name, or of the text of one without: where a run ends follows from it. */
  readonly hash: number;
}

/** @param text the element's JSON */
export const listElementOf = (element: object, text: string): ListElement => ({
  text,
  hash: nameHash(nameOf(element) || text, "piece "),
});

/** Name of an element, "" for one without. */
export function nameOf(element: object): string {
  const name: unknown = Reflect.get(element, "name");
  return typeof name === "string" ? name : "";
}

/**
 * The places of elements in the order in which they are cut into runs. Virtual hosts, whose order means nothing, stand by the domain
 * that they are in: each namespace has its own ones in another form, and what lies between them is shared.
 *
 * @param names of the elements
 */
export function cutOrder(type: ResourceType, names: readonly string[]): readonly number[] {
  const places = [...names.keys()];
  if (type !== "routes") return places;
  const byDomain = Map.groupBy(places, (at) => domainOf(names[at] ?? ""));
  return [...byDomain].sort(([a], [b]) => byCodePoint(a, b)).flatMap(([, group]) => group);
}

/** What follows the first label of a name. */
const domainOf = (name: string): string => name.slice(name.indexOf(".") + 1);

/** The runs of a long message. @param order of its pieces, by `cutOrder` */
export function cutChunks<P extends ListElement>(
  pieces: readonly P[],
  order: readonly number[],
): readonly (readonly P[])[] {
  // Every place has its piece.
  const ordered = order.map((at) => pieces[at] as P);
  return cutEvenly<P>(ordered, runLength, byText);
}

/** The place behind the last element of a run of a long message, by the pieces that the elements are. */
export const endOfChunk = <T>(
  elements: readonly T[],
  from: number,
  listElementOf: (element: T) => ListElement,
): number =>
  endOfRun(elements, from, runLength, {
    weight: (element) => listElementOf(element).text.length,
    hash: (element) => listElementOf(element).hash,
  });

const byText = { weight: ({ text }: ListElement) => text.length, hash: ({ hash }: ListElement) => hash };

/** Version of a long resource. @param hashes of its runs, or of several of them, joined by commas */
export const versionOfChunks = (hashes: readonly string[]): string => hashOf(hashes.join());

/** The text of a run. @param around what stands before and after the elements: of a message's inner runs nothing, and a comma */
export const chunkText = (
  pieces: readonly ListElement[],
  { before, after }: { readonly before: string; readonly after: string },
): string => before + pieces.map(({ text }) => text).join() + after;

/** What stands around the elements of a run, by its place among so many. */
export const aroundChunk = ({ before, after }: Pick<ListMessage, "before" | "after">, at: number, runs: number) => ({
  before: at === 0 ? before : "",
  after: at === runs - 1 ? after : ",",
});
