import { blobOf, jsonBlob, type LazyBlob, madeBlob } from "../blob.ts";
import type { BlobGroup } from "../blob-groups.ts";
import type { CompiledList } from "../compiled.ts";
import { cutEvenly } from "../long/cut-evenly.ts";
import { nameHash } from "../name-hash.ts";
import { rememberEach } from "../remember-each.ts";
import { rememberLast } from "../remember-last.ts";
import { rememberRuns } from "../remember-runs.ts";
import type { ListRef, PartList, TreeList, TypeTable } from "../root.ts";
import type { Column } from "./columns.ts";
import type { EncodedPart, EncodedRun, TreeEncoder } from "./encode-tree.ts";

/** What all classes answer for one type, as it is stored: its blobs are the table's own and those of the lists that it names. */
export interface EncodedTable extends BlobGroup {
  readonly hash: string;
  readonly groups: readonly EncodedPart[];
  /** What its trees consist of, each once. */
  readonly runs: readonly EncodedRun[];
  /** Of each list, the index of its tree. */
  readonly indexes: readonly number[];
  /** Of each list, the names of the secrets that its resources name, sorted. */
  readonly secrets: readonly (readonly string[])[];
}

/** The table of a type, from its column. Equal lists have one tree. */
export type TableEncoder = (column: Column) => EncodedTable;

/** Remembers tables by their columns, and of their trees and parts those that other tables have. */
export function createTableEncoder(encodeTree: TreeEncoder): TableEncoder {
  const partList = rememberRuns((parts: readonly EncodedPart[]) =>
    listBlob(
      "parts",
      parts.map(({ text }) => text),
    ),
  );
  const treeLists = rememberLast((texts: readonly string[]) =>
    cutEvenly(texts, listLength, byText).map((list) => listBlob("trees", list)),
  );
  return rememberEach((lists) => {
    const parts = new Map<string, { readonly index: number; readonly part: EncodedPart }>();
    const runs = new Map<EncodedRun, string>();
    const trees = new Map<string, number>();
    const known = new Map<CompiledList, number>();
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
      const text = `{"parts":[${encodeTree(list).runs.map(indexesIn).join()}]}`;
      const index = trees.get(text) ?? trees.size;
      trees.set(text, index);
      known.set(list, index);
      return index;
    };
    const indexes = lists.map((list) => known.get(list) ?? indexOf(list));
    const groups = Array.from(parts.values(), ({ part }) => part);
    const [ofParts, ofTrees] = [cutEvenly(groups, listLength, byPart).map(partList), treeLists([...trees.keys()])];
    const table: TypeTable = { partLists: ofParts.map(({ ref }) => ref), treeLists: ofTrees.map(({ ref }) => ref) };
    const blob = jsonBlob(table);
    const blobs = [madeBlob(blob), ...[...ofParts, ...ofTrees].map((list) => list.blob)];
    const secrets = lists.map((list) => encodeTree(list).secrets);
    return { hash: blob.hash, blobs, groups, runs: [...runs.keys()], indexes, secrets };
  });
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
