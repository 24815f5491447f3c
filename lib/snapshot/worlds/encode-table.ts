import { blobOf, jsonBlob, type LazyBlob, madeBlob } from "../blob.ts";
import type { BlobGroup } from "../blob-groups.ts";
import type { CompiledList, CompiledPart } from "../compiled.ts";
import { cutEvenly } from "../long/cut-evenly.ts";
import { nameHash } from "../name-hash.ts";
import { rememberEach } from "../remember-each.ts";
import { rememberLast } from "../remember-last.ts";
import { rememberRuns } from "../remember-runs.ts";
import type { ListRef, PartList, TreeList, TypeTable } from "../root.ts";
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
  const partList = rememberRuns((parts: readonly EncodedPart[]) =>
    listBlob(
      "parts",
      parts.map(({ text }) => text),
    ),
  );
  const treeLists = rememberLast((texts: readonly string[]) =>
    cutEvenly(texts, listLength, byText).map((list) => listBlob("trees", list)),
  );
  const contentOf = (lists: Column): WholeContent => {
    const parts = new Map<string, { readonly index: number; readonly part: EncodedPart }>();
    const runs = new Map<EncodedRun, string>();
    const trees = new Map<string, number>();
    const known = new Map<CompiledList, number>();
    let isCutAtParts = true;
    const indexOfPart = (part: EncodedPart): number => {
      const found = parts.get(part.key);
      if (found !== undefined) return found.index;
      parts.set(part.key, { index: parts.size, part });
      return parts.size - 1;
    };
    const indexesIn = (run: EncodedRun): string => {
      const text = runs.get(run) ?? run.parts.map(indexOfPart).join();
      runs.set(run, text);
      return text;
    };
    // Trees of the same parts have the same text.
    const indexOf = (list: CompiledList): number => {
      const tree = encodeTree(list);
      const text = `{"parts":[${tree.runs.map(indexesIn).join()}]}`;
      const index = trees.get(text) ?? trees.size;
      trees.set(text, index);
      known.set(list, index);
      isCutAtParts &&= tree.runs.length === list.length;
      return index;
    };
    const indexes = lists.map((list) => known.get(list) ?? indexOf(list));
    const groups = Array.from(parts.values(), ({ part }) => part);
    const secrets = lists.map((list) => encodeTree(list).secrets);
    return { groups, runs: [...runs.keys()], indexes, secrets, trees: treeLists([...trees.keys()]), isCutAtParts };
  };
  const runOf = (part: CompiledPart): EncodedRun | undefined => encodeTree([part]).runs[0];
  const changed = (before: Made, lists: Column): WholeContent | undefined => {
    const replaced = before.content.isCutAtParts ? columns.replacedParts(before.lists, lists) : undefined;
    return replaced && withReplaced(before.content, replaced, runOf);
  };
  let last: Made | undefined;
  return rememberEach((lists) => {
    const content = (last && changed(last, lists)) ?? contentOf(lists);
    last = { lists, content };
    const { trees, isCutAtParts: _isCutAtParts, ...rest } = content;
    const parts = cutEvenly(content.groups, listLength, byPart).map(partList);
    const table: TypeTable = { partLists: parts.map(({ ref }) => ref), treeLists: trees.map(({ ref }) => ref) };
    const blob = jsonBlob(table);
    const blobs = [madeBlob(blob), ...[...parts, ...trees].map((list) => list.blob)];
    return { ...rest, hash: blob.hash, blobs };
  });
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

interface CountedList {
  readonly blob: LazyBlob;
  readonly ref: ListRef;
}

/** About so long is a list, in UTF-16 code units. */
const listLength = 8 * 1024;

const byText = { weight: ({ length }: string) => length, hash: (text: string) => nameHash(text) };
const byPart = { weight: ({ text }: EncodedPart) => text.length, hash: ({ textHash }: EncodedPart) => textHash };

/** A list of elements that are JSON already. */
function listBlob(name: keyof PartList | keyof TreeList, texts: readonly string[]): CountedList {
  const blob = blobOf(`{"${name}":[${texts.join()}]}`);
  return { blob: madeBlob(blob), ref: { hash: blob.hash, count: texts.length } };
}
