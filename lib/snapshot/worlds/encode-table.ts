import { type Blob, jsonBlob } from "../blob.ts";
import type { CompiledResource } from "../compiled.ts";
import type { TypeTable } from "../root.ts";
import type { EncodedPart, EncodedTree, TreeEncoder } from "./encode-tree.ts";

/** The table of one type while a world is encoded: gives each different tree its index. */
export interface TableBuilder {
  indexOf(resources: readonly CompiledResource[]): number;
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
    indexOf(resources) {
      const tree = encodeTree(resources);
      const known = trees.get(tree.key);
      if (known !== undefined) return known.index;
      trees.set(tree.key, { index: trees.size, tree });
      return trees.size - 1;
    },
    finish() {
      const encoded = [...trees.values()].map(({ tree }) => tree);
      const parts = new Map(encoded.flatMap((tree) => tree.parts.map((part) => [part.key, part] as const)));
      const indexes = new Map([...parts.keys()].map((key, i) => [key, i] as const));
      const table: TypeTable = {
        parts: [...parts.values()].map(({ ref }) => ref),
        trees: encoded.map((tree) => ({
          version: tree.version,
          parts: tree.parts.map(({ key }) => indexes.get(key) ?? 0),
        })),
      };
      return { blob: jsonBlob(table), trees: encoded, parts: [...parts.values()] };
    },
  };
}
