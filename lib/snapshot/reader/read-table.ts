import { inParallel } from "../../storage/in-parallel.ts";
import { partsIn } from "../long/listed-part.ts";
import { versionOfParts } from "../parts-version.ts";
import type { ListRef, ListRefs, Part, PartRef, TreeList, TypeTable, WholeTypeTable } from "../root.ts";
import { createLoadCache } from "../worlds/load-cache.ts";

/** One tree of a type's table. */
export interface TableTree {
  readonly version: string;
  readonly parts: readonly PartRef[];
}

/** The parts and trees of a table. */
export interface WholeTable {
  readonly parts: readonly PartRef[];
  /** Of each tree the places of its parts. */
  readonly trees: readonly (readonly number[])[];
}

/** Reads type tables, of any version; of their lists those that are asked for. */
export interface TableReader {
  /** @returns undefined when the table has no such tree */
  tree(table: string, index: number): Promise<TableTree | undefined>;
  /** All of it, for whoever wants most of its trees: each by itself costs a promise for each of its parts. */
  whole(table: string): Promise<WholeTable>;
  parts(table: string): Promise<readonly PartRef[]>;
  /** The table's own blobs. */
  blobs(table: string): Promise<readonly string[]>;
}

/** @param text reads a blob */
export function createTableReader(text: (hash: string) => Promise<string>, maxBytes: number): TableReader {
  const cacheOf = <T>(
    sizeOf: (loaded: T) => number,
    load = async (hash: string): Promise<T> => JSON.parse(await text(hash)),
  ) => createLoadCache<string, T>({ nameOf: (hash) => hash, maxBytes, load, sizeOf });
  const tables = cacheOf<TypeTable | WholeTypeTable>((table) =>
    "parts" in table
      ? (table.parts.length + table.trees.length) * 200
      : (table.partLists.length + table.treeLists.length) * 100,
  );
  const listRefs = cacheOf<ListRefs>(({ lists }) => lists.length * 120);
  const read = (hash: string) => listRefs.get(hash);
  const partLists = cacheOf<readonly Part[]>(
    (parts) => parts.length * 300,
    async (hash) => partsIn(await text(hash)),
  );
  const treeLists = cacheOf<TreeList>(({ trees }) => trees.reduce((sum, { parts }) => sum + 100 + parts.length * 8, 0));

  /** Where an element of lists that follow one another is. */
  async function placeIn(lists: readonly ListRef[], index: number): Promise<Place | undefined> {
    let place = index;
    for (const { hash, count, lists: below } of lists) {
      if (place < count) return below === undefined ? { hash, place } : placeIn((await read(hash)).lists, place);
      place -= count;
    }
    return undefined;
  }

  async function treeIn(table: TypeTable, index: number): Promise<TableTree | undefined> {
    const at = await placeIn(table.treeLists, index);
    const tree = at && (await treeLists.get(at.hash)).trees[at.place];
    if (tree === undefined) return undefined;
    const parts = await Promise.all(
      tree.parts.map(async (part) => {
        const place = await placeIn(table.partLists, part);
        return place === undefined ? [] : ((await partLists.get(place.hash))[place.place] ?? []);
      }),
    );
    return { version: versionOfParts(parts.flat()), parts: parts.flat() };
  }

  const namedIn = async (lists: readonly ListRef[]) => withoutNames(await withNamed(lists, read));
  const partsOf = async ({ partLists: lists }: TypeTable): Promise<readonly Part[]> =>
    (await inParallel(await namedIn(lists), (list) => partLists.get(list.hash))).flat();

  return {
    async tree(hash, index) {
      const table = await tables.get(hash);
      return "parts" in table ? wholeTree(table, index) : treeIn(table, index);
    },
    async whole(hash) {
      const table = await tables.get(hash);
      if ("parts" in table) return { parts: table.parts, trees: table.trees.map(({ parts }) => parts) };
      const [parts, lists] = await Promise.all([
        partsOf(table),
        namedIn(table.treeLists).then((named) => inParallel(named, (list) => treeLists.get(list.hash))),
      ]);
      return { parts, trees: lists.flatMap(({ trees }) => trees.map((tree) => tree.parts)) };
    },
    async parts(hash) {
      const table = await tables.get(hash);
      return "parts" in table ? table.parts : partsOf(table);
    },
    async blobs(hash) {
      const table = await tables.get(hash);
      if ("parts" in table) return [hash];
      const all = await withNamed([...table.partLists, ...table.treeLists], read);
      return [hash, ...all.map((list) => list.hash)];
    },
  };
}

function wholeTree({ parts, trees }: WholeTypeTable, index: number): TableTree | undefined {
  const tree = trees[index];
  return tree && { version: tree.version, parts: tree.parts.flatMap((part) => parts[part] ?? []) };
}

interface Place {
  /** Of the list. */
  readonly hash: string;
  readonly place: number;
}

/** Lists, each with those that it names behind it. @param read reads one that names others */
async function withNamed(
  lists: readonly ListRef[],
  read: (hash: string) => Promise<ListRefs>,
): Promise<readonly ListRef[]> {
  const all = lists.map(async (list) =>
    list.lists === undefined ? [list] : [list, ...(await withNamed((await read(list.hash)).lists, read))],
  );
  return (await Promise.all(all)).flat();
}

/** Those of them that have elements. */
const withoutNames = (lists: readonly ListRef[]): readonly ListRef[] =>
  lists.filter((list) => list.lists === undefined);
