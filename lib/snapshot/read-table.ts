import { versionOfParts } from "./parts-version.ts";
import type { ListRef, PartList, PartRef, TreeList, TypeTable, WholeTypeTable } from "./root.ts";
import { createLoadCache } from "./worlds/load-cache.ts";

/** One tree of a type's table. */
export interface TableTree {
  readonly version: string;
  readonly parts: readonly PartRef[];
}

/** Reads type tables, of any version; of their lists those that are asked for. */
export interface TableReader {
  /** @returns undefined when the table has no such tree */
  tree(table: string, index: number): Promise<TableTree | undefined>;
  parts(table: string): Promise<readonly PartRef[]>;
  /** The table's own blobs. */
  blobs(table: string): Promise<readonly string[]>;
}

/** @param text reads a blob */
export function createTableReader(text: (hash: string) => Promise<string>, maxBytes: number): TableReader {
  const cacheOf = <T>(sizeOf: (loaded: T) => number) =>
    createLoadCache<string, T>({
      nameOf: (hash) => hash,
      maxBytes,
      load: async (hash) => JSON.parse(await text(hash)),
      sizeOf,
    });
  const tables = cacheOf<TypeTable | WholeTypeTable>((table) =>
    "parts" in table
      ? (table.parts.length + table.trees.length) * 200
      : (table.partLists.length + table.treeLists.length) * 100,
  );
  const partLists = cacheOf<PartList>(({ parts }) => parts.length * 300);
  const treeLists = cacheOf<TreeList>(({ trees }) => trees.reduce((sum, { parts }) => sum + 100 + parts.length * 8, 0));

  async function treeIn(table: TypeTable, index: number): Promise<TableTree | undefined> {
    const at = placeOf(table.treeLists, index);
    const tree = at && (await treeLists.get(at.hash)).trees[at.place];
    if (tree === undefined) return undefined;
    const parts = await Promise.all(
      tree.parts.map(async (part) => {
        const place = placeOf(table.partLists, part);
        return place === undefined ? [] : ((await partLists.get(place.hash)).parts[place.place] ?? []);
      }),
    );
    return { version: versionOfParts(parts.flat()), parts: parts.flat() };
  }

  return {
    async tree(hash, index) {
      const table = await tables.get(hash);
      return "parts" in table ? wholeTree(table, index) : treeIn(table, index);
    },
    async parts(hash) {
      const table = await tables.get(hash);
      if ("parts" in table) return table.parts;
      const lists = await Promise.all(table.partLists.map((list) => partLists.get(list.hash)));
      return lists.flatMap(({ parts }) => parts);
    },
    async blobs(hash) {
      const table = await tables.get(hash);
      return "parts" in table ? [hash] : [hash, ...[...table.partLists, ...table.treeLists].map((list) => list.hash)];
    },
  };
}

function wholeTree({ parts, trees }: WholeTypeTable, index: number): TableTree | undefined {
  const tree = trees[index];
  return tree && { version: tree.version, parts: tree.parts.flatMap((part) => parts[part] ?? []) };
}

/** Where an element of lists that follow one another is. */
function placeOf(
  lists: readonly ListRef[],
  index: number,
): { readonly hash: string; readonly place: number } | undefined {
  let place = index;
  for (const { hash, count } of lists) {
    if (place < count) return { hash, place };
    place -= count;
  }
  return undefined;
}
