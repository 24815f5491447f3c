import { changedIndexes } from "../../incremental/list-delta.ts";
import {
  type CompiledList,
  type CompiledPart,
  type CompiledTable,
  type CompiledWorld,
  listIn,
  noList,
} from "../compiled.ts";
import { memoizeChunks } from "../memoize/memoize-chunks.ts";
import { memoizeEach } from "../memoize/memoize-each.ts";
import { memoizePairs } from "../memoize/memoize-pairs.ts";
import { type ResourceType, shapes } from "../resource-type.ts";
import { storedForm } from "../reuse/stored-part.ts";

/** The lists of all classes for one type: that of a class's stream shape and that of its poll shape, class by class. */
export type Column = readonly CompiledList[];

export type Columns = Readonly<Record<ResourceType, Column>>;

/** Takes worlds apart by type, so that what a change leaves as it was is seen at once for all classes. */
export interface WorldColumns {
  /** The same lists are the same column, an object: what is made of a column is remembered by it. */
  of(world: Pick<CompiledWorld, "classes" | "table">): Columns;
  /** Whether lists at the same places surely have the same names: so it is after changes that make and drop no resource. */
  haveSameNames(before: Column, after: Column): boolean;
  /**
   * The few parts of a column in whose stead another one has others, each wherever it stood: so it is after changes of what classes share.
   * Undefined where that is not all that differs.
   */
  replacedParts(before: Column, after: Column): ReadonlyMap<CompiledPart, CompiledPart> | undefined;
}

export function createColumns(): WorldColumns {
  const same = memoizeChunks((column: Column) => column);
  const allTypes = (columnOf: (type: ResourceType) => Column): Columns => ({
    clusters: columnOf("clusters"),
    endpoints: columnOf("endpoints"),
    extension_configs: columnOf("extension_configs"),
    listeners: columnOf("listeners"),
    routes: columnOf("routes"),
    name_tables: columnOf("name_tables"),
  });
  const columnsOf = memoizeEach(
    (classes: CompiledWorld["classes"]): Columns =>
      allTypes((type) => {
        const column: CompiledList[] = [];
        for (const proxyClass of classes) for (const shape of shapes) column.push(listIn(proxyClass[shape], type));
        return same(column);
      }),
  );
  const bothShapes = memoizePairs((stream: readonly CompiledList[], poll: readonly CompiledList[]): Column => {
    const column: CompiledList[] = [];
    for (let row = 0; row < stream.length; row++) column.push(stream[row] ?? noList, poll[row] ?? noList);
    return same(column);
  });
  const columnsOfTable = memoizeEach(({ classes, lists }: CompiledTable): Columns => {
    const nothing = classes.map(() => noList);
    return allTypes((type) => {
      const { stream, poll } = lists[type] ?? { stream: nothing, poll: nothing };
      return bothShapes(stream, poll);
    });
  });
  // Classes share the parts that were replaced.
  const sameInParts = memoizePairs(
    (before: CompiledPart, after: CompiledPart): boolean =>
      storedForm(before) === undefined &&
      storedForm(after) === undefined &&
      changedIndexes(before, after)?.every((at) => before[at]?.name === after[at]?.name) === true,
  );
  const differenceOf = memoizePairs(difference);
  const haveSameNames = (before: Column, after: Column): boolean => {
    const { areInPlace, parts } = differenceOf(before, after);
    return areInPlace && [...parts].every(([part, others]) => [...others].every((other) => sameInParts(part, other)));
  };
  return {
    of: ({ classes, table }) => (table?.classes === classes ? columnsOfTable(table) : columnsOf(classes)),
    haveSameNames: (before, after) => before === after || haveSameNames(before, after),
    replacedParts: (before, after) => replacedIn(after, differenceOf(before, after)),
  };
}

/** How the lists of a column differ from those of another one. */
interface Difference {
  /** Whether both columns have as many lists, and lists at the same places as many parts. */
  readonly areInPlace: boolean;
  /** Parts of the one, by the parts of the other in whose stead they stand. */
  readonly parts: ReadonlyMap<CompiledPart, ReadonlySet<CompiledPart>>;
}

/** Looks at no part: most are those of one class, and there are thousands. */
function difference(before: Column, after: Column): Difference {
  const parts = new Map<CompiledPart, Set<CompiledPart>>();
  let areInPlace = before.length === after.length;
  for (let place = 0; areInPlace && place < before.length; place++) {
    const list = before[place] ?? noList;
    const other = after[place] ?? noList;
    if (list === other) continue;
    areInPlace = list.length === other.length;
    for (let at = 0; at < list.length; at++) {
      const part = list[at];
      const instead = other[at];
      if (part === instead || part === undefined || instead === undefined) continue;
      const others = parts.get(part);
      if (others === undefined) parts.set(part, new Set([instead]));
      else others.add(instead);
    }
  }
  return { areInPlace, parts };
}

/** Whether any of some parts stands in a list. Plain loops: there are two lists for each class, and nearly always none of these in them. */
function standsIn(lists: Column, parts: ReadonlyMap<CompiledPart, unknown>): boolean {
  const [first] = parts.keys();
  const isOnly = parts.size === 1;
  for (let place = 0; place < lists.length; place++) {
    const list = lists[place] ?? noList;
    for (let at = 0; at < list.length; at++) {
      const part = list[at] as CompiledPart;
      if (isOnly ? part === first : parts.has(part)) return true;
    }
  }
  return false;
}

/** So many are looked for in all lists. */
const fewParts = 8;

function replacedIn(
  after: Column,
  { areInPlace, parts }: Difference,
): ReadonlyMap<CompiledPart, CompiledPart> | undefined {
  if (!areInPlace || parts.size > fewParts) return undefined;
  if (standsIn(after, parts)) return undefined;
  const replaced = new Map<CompiledPart, CompiledPart>();
  for (const [part, [instead, ...more]] of parts) {
    if (instead === undefined || more.length > 0) return undefined;
    replaced.set(part, instead);
  }
  return replaced;
}
