import { type Blob, jsonBlob } from "../blob.ts";
import type { CompiledList } from "../compiled.ts";
import type { TypeTable } from "../root.ts";
import type { EncodedPart, EncodedRun, EncodedTree, TreeEncoder } from "./encode-tree.ts";

/** The table of one type while a world is encoded: gives each different tree its index. */
export interface TableBuilder {
  indexOf(list: CompiledList): number;
  finish(): EncodedTable;
}

export interface EncodedTable {
  readonly blob: Blob;
  readonly trees: readonly EncodedTree[];
  readonly parts: readonly EncodedPart[];
}

export function buildTable(encodeTree: TreeEncoder): TableBuilder {
  const trees = new Map<string, { readonly index: number; readonly tree: EncodedTree }>();
  return {
    indexOf(list) {
      const tree = encodeTree(list);
      const known = trees.get(tree.key);
      if (known !== undefined) return known.index;
      trees.set(tree.key, { index: trees.size, tree });
      return trees.size - 1;
    },
    finish() {
      const encoded = [...trees.values()].map(({ tree }) => tree);
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
      const typeTrees = encoded.map(({ version, runs }) => ({ version, parts: runs.flatMap(indexesOf) }));
      const table: TypeTable = { parts: parts.map(({ ref }) => ref), trees: typeTrees };
      return { blob: jsonBlob(table), trees: encoded, parts };
    },
  };
}
