import { type Blob, blobOf, jsonBlob } from "../blob.ts";
import type { CompiledList } from "../compiled.ts";
import { cutEvenly } from "../long/cut-evenly.ts";
import { nameHash } from "../name-hash.ts";
import { rememberRuns } from "../remember-runs.ts";
import type { ListRef, PartList, TreeList, TypeTable, TypeTree } from "../root.ts";
import type { EncodedPart, EncodedRun, EncodedTree, TreeEncoder } from "./encode-tree.ts";

/** The table of one type while a world is encoded: gives each different tree its index. */
export interface TableBuilder {
  indexOf(list: CompiledList): number;
  finish(): EncodedTable;
}

export interface EncodedTable {
  readonly blob: Blob;
  /** Lists that the table names. */
  readonly lists: readonly Blob[];
  readonly trees: readonly EncodedTree[];
  readonly parts: readonly EncodedPart[];
}

/** The table of some trees, in their order. */
export type TableOf = (trees: readonly EncodedTree[]) => EncodedTable;

/** Remembers the tables of the same trees. */
export const createTableEncoder = (): TableOf => rememberRuns(encodeTable);

export function buildTable(encodeTree: TreeEncoder, tableOf: TableOf): TableBuilder {
  const trees = new Map<string, { readonly index: number; readonly tree: EncodedTree }>();
  const indexes = new Map<CompiledList, number>();
  const indexOfTree = (tree: EncodedTree): number => {
    const known = trees.get(tree.key);
    if (known !== undefined) return known.index;
    trees.set(tree.key, { index: trees.size, tree });
    return trees.size - 1;
  };
  return {
    indexOf(list) {
      const known = indexes.get(list);
      if (known !== undefined) return known;
      const index = indexOfTree(encodeTree(list));
      indexes.set(list, index);
      return index;
    },
    finish: () => tableOf([...trees.values()].map(({ tree }) => tree)),
  };
}

function encodeTable(trees: readonly EncodedTree[]): EncodedTable {
  const parts: EncodedPart[] = [];
  const indexes = new Map<string, number>();
  const indexesOfRuns = new Map<EncodedRun, readonly number[]>();
  const indexOfPart = (part: EncodedPart): number => {
    const known = indexes.get(part.key) ?? parts.length;
    if (known === parts.length) {
      indexes.set(part.key, known);
      parts.push(part);
    }
    return known;
  };
  const indexesOf = (run: EncodedRun): readonly number[] => {
    const known = indexesOfRuns.get(run) ?? run.parts.map(indexOfPart);
    indexesOfRuns.set(run, known);
    return known;
  };
  const treeTexts = trees.map(({ runs }) => JSON.stringify({ parts: runs.flatMap(indexesOf) } satisfies TypeTree));
  const partLists = listBlobs(
    "parts",
    parts.map(({ text }) => text),
  );
  const treeLists = listBlobs("trees", treeTexts);
  const table: TypeTable = { partLists: partLists.map(refOf), treeLists: treeLists.map(refOf) };
  const lists = [...partLists, ...treeLists].map(({ blob }) => blob);
  return { blob: jsonBlob(table), lists, trees, parts };
}

interface CountedBlob {
  readonly blob: Blob;
  readonly count: number;
}

const refOf = ({ blob: { hash }, count }: CountedBlob): ListRef => ({ hash, count });

/** About so long is a list, in UTF-16 code units. */
const listLength = 8 * 1024;

/** Lists of elements that are JSON already. */
const listBlobs = (name: keyof PartList | keyof TreeList, texts: readonly string[]): readonly CountedBlob[] =>
  cutEvenly(texts, listLength, { weight: ({ length }) => length, hash: nameHash }).map((list) => ({
    blob: blobOf(`{"${name}":[${list.join()}]}`),
    count: list.length,
  }));
