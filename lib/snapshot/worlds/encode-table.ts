import { blobOf, jsonBlob, type LazyBlob, madeBlob } from "../../base/blob.ts";
import { cutEvenly } from "../../base/cut-evenly.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import { nameHash } from "../../base/name-hash.ts";
import type { BlobGroup } from "../blob-groups.ts";
import type { CompiledList, CompiledPart } from "../compiled.ts";
import { fewOf } from "../long/few-of.ts";
import { listedLongLength, partListText } from "../long/listed-part.ts";
import { memoizeChunks } from "../memoize/memoize-chunks.ts";
import { memoizeEach } from "../memoize/memoize-each.ts";
import { memoizeLast } from "../memoize/memoize-last.ts";
import type { ListRef, ListRefs, TypeTable } from "../root.ts";
import type { Column, WorldColumns } from "./columns.ts";
import type { EncodedPart, EncodedRun, TreeEncoder } from "./encode-tree.ts";
import { type TableContent, withReplaced } from "./table-content.ts";

/** What all classes answer for one type, as it is stored: its blobs are the table's own and those of the lists that it names. */
export interface EncodedTable extends BlobGroup, TableContent {
  readonly hash: string;
  readonly groups: TableContent["groups"];
  /** Of each list, the index of its tree. */
  readonly indexes: readonly number[];
  /** Of each list, the names of the secrets that its resources name, sorted. */
  readonly secrets: readonly (readonly string[])[];
}

/** The table of a type, from its column. Equal lists have one tree. */
export type TableEncoder = (column: Column) => EncodedTable;

/**
 * Encodes the tables of one type. Remembers them by their columns, and of their trees and parts those that other tables have; of a column in
 * which a few parts were replaced nothing else is looked at.
 */
export function createTableEncoder(encodeTree: TreeEncoder, columns: WorldColumns): TableEncoder {
  const partList = memoizeChunks((parts: readonly EncodedPart[]) => countedList(partListText(parts), parts.length));
  const treeLists = memoizeLast((texts: readonly string[]) =>
    fewLists(
      cutEvenly(texts, listLength, byText).map((list) => countedList(`{"trees":[${list.join()}]}`, list.length)),
    ),
  );
  const contentOf = (lists: Column): WholeContent => {
    const parts = new Map<string, NumberedPart>();
    const runs = new Map<EncodedRun, readonly NumberedPart[]>();
    const trees = new Map<string, NumberedTree>();
    const known = new Map<CompiledList, number>();
    let isCutAtParts = true;
    const numbered = (part: EncodedPart): NumberedPart => {
      const found = parts.get(part.key) ?? { number: parts.size, part };
      parts.set(part.key, found);
      return found;
    };
    const partsIn = (run: EncodedRun): readonly NumberedPart[] => {
      const found = runs.get(run) ?? run.parts.map(numbered);
      runs.set(run, found);
      return found;
    };
    // Trees of the same parts are one.
    const indexOf = (list: CompiledList): number => {
      const { runs: ofList } = encodeTree(list);
      const own = ofList.flatMap(partsIn);
      const key = own.map(({ number }) => number).join();
      const tree = trees.get(key) ?? { index: trees.size, parts: own };
      trees.set(key, tree);
      known.set(list, tree.index);
      isCutAtParts &&= ofList.length === list.length;
      return tree.index;
    };
    const indexes = lists.map((list) => known.get(list) ?? indexOf(list));
    const ordered = inOrder([...parts.values()]);
    const places = new Map(ordered.map((part, place) => [part, place]));
    const texts = Array.from(
      trees.values(),
      (tree) => `{"parts":[${tree.parts.map((part) => places.get(part)).join()}]}`,
    );
    const groups = ordered.map(({ part }) => part);
    const secrets = lists.map((list) => encodeTree(list).secrets);
    return { groups, runs: [...runs.keys()], indexes, secrets, trees: treeLists(texts), isCutAtParts };
  };
  const runOf = (part: CompiledPart): EncodedRun | undefined => encodeTree([part]).runs[0];
  const changed = (before: Made, lists: Column): WholeContent | undefined => {
    const replaced = before.content.isCutAtParts ? columns.replacedParts(before.lists, lists) : undefined;
    return replaced && withReplaced(before.content, replaced, runOf);
  };
  let last: Made | undefined;
  return memoizeEach((lists) => {
    const content = (last && changed(last, lists)) ?? contentOf(lists);
    last = { lists, content };
    const { trees, isCutAtParts: _isCutAtParts, ...rest } = content;
    const parts = fewLists(cutEvenly(content.groups, listLength, byPart).map(partList));
    const table: TypeTable = { partLists: parts.map(({ ref }) => ref), treeLists: trees.map(({ ref }) => ref) };
    const blob = jsonBlob(table);
    const blobs = [madeBlob(blob), ...[...parts, ...trees].flatMap((list) => list.blobs)];
    return { ...rest, hash: blob.hash, blobs };
  });
}

/** By its first use. */
interface NumberedPart {
  readonly number: number;
  readonly part: EncodedPart;
}

interface NumberedTree {
  readonly index: number;
  readonly parts: readonly NumberedPart[];
}

/**
 * As trees have them, but for long resources, which come last and by their names: each class has its own form of the tables of all ports,
 * and a change of one table writes no other.
 */
function inOrder(parts: readonly NumberedPart[]): readonly NumberedPart[] {
  const isLong = ({ part }: NumberedPart): boolean => part.long !== undefined;
  const long = parts.filter(isLong).sort((a, b) => byCodePoint(a.part.long?.name ?? "", b.part.long?.name ?? ""));
  return long.length === 0 ? parts : [...parts.filter((part) => !isLong(part)), ...long];
}

interface WholeContent extends TableContent, Pick<EncodedTable, "indexes" | "secrets"> {
  readonly trees: readonly CountedList[];
  /** Whether no part of a list is cut together with its neighbours. */
  readonly isCutAtParts: boolean;
}

interface Made {
  readonly lists: Column;
  readonly content: WholeContent;
}

/** So many lists a table names: of more it names lists of lists, since it is written at each change. */
const maxLists = 64;

/** Lists that one names: about as many as name lists of the largest meshes. */
const listsPerList = 24;

const fewLists = (lists: readonly CountedList[]): readonly CountedList[] =>
  fewOf(lists, {
    most: maxLists,
    perList: listsPerList,
    cutHashOf: ({ ref }) => nameHash(ref.hash),
    listOf: listOfLists,
  });

function listOfLists(lists: readonly CountedList[]): CountedList {
  const refs = lists.map(({ ref }) => ref);
  const blob = jsonBlob({ lists: refs } satisfies ListRefs);
  const count = refs.reduce((sum, ref) => sum + ref.count, 0);
  const blobs = [madeBlob(blob), ...lists.flatMap((list) => list.blobs)];
  return { blobs, ref: { hash: blob.hash, count, lists: refs.length } };
}

interface CountedList {
  /** Its own, and those of the lists that it names. */
  readonly blobs: readonly LazyBlob[];
  readonly ref: ListRef;
}

/** About so long is a list, in UTF-16 code units. */
const listLength = 8 * 1024;

const byText = { weight: ({ length }: string) => length, hash: (text: string) => nameHash(text) };
const byPart = {
  weight: ({ text, long }: EncodedPart) => (long === undefined ? text.length : listedLongLength),
  hash: ({ textHash }: EncodedPart) => textHash,
};

/** A list that is JSON already. @param count of its elements */
function countedList(text: string, count: number): CountedList {
  const blob = blobOf(text);
  return { blobs: [madeBlob(blob)], ref: { hash: blob.hash, count } };
}
