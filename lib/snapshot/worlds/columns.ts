import { type CompiledList, type CompiledPart, type CompiledWorld, listIn } from "../compiled.ts";
import { rememberEach } from "../remember-each.ts";
import { rememberPairs } from "../remember-pairs.ts";
import { rememberRuns } from "../remember-runs.ts";
import { type ResourceType, shapes } from "../resource-type.ts";
import { storedForm } from "../standing/stored-part.ts";

/** The lists of all classes for one type: that of a class's stream shape and that of its poll shape, class by class. */
export type Column = readonly CompiledList[];

export type Columns = Readonly<Record<ResourceType, Column>>;

/** Takes worlds apart by type, so that what a change leaves as it was is seen at once for all classes. */
export interface WorldColumns {
  /** The same lists are the same column, an object: what is made of a column is remembered by it. */
  of(world: Pick<CompiledWorld, "classes">): Columns;
  /** Whether lists at the same places surely have the same names: so it is after changes that make and drop no resource. */
  haveSameNames(before: Column, after: Column): boolean;
}

export function createColumns(): WorldColumns {
  const same = rememberRuns((column: Column) => column);
  const columnsOf = rememberEach((classes: CompiledWorld["classes"]): Columns => {
    const columnOf = (type: ResourceType): Column => {
      const column: CompiledList[] = [];
      for (const proxyClass of classes) for (const shape of shapes) column.push(listIn(proxyClass[shape], type));
      return same(column);
    };
    return {
      clusters: columnOf("clusters"),
      endpoints: columnOf("endpoints"),
      extension_configs: columnOf("extension_configs"),
      listeners: columnOf("listeners"),
      routes: columnOf("routes"),
      name_tables: columnOf("name_tables"),
    };
  });
  // Classes share the parts that were replaced.
  const sameInParts = rememberPairs(
    (before: CompiledPart, after: CompiledPart): boolean =>
      storedForm(before) === undefined &&
      storedForm(after) === undefined &&
      before.length === after.length &&
      before.every(({ name }, i) => name === after[i]?.name),
  );
  const sameInLists = (before: CompiledList, after: CompiledList): boolean =>
    before.length === after.length &&
    before.every((part, i) => {
      const other = after[i];
      return part === other || (other !== undefined && sameInParts(part, other));
    });
  const haveSameNames = rememberPairs(
    (before: Column, after: Column): boolean =>
      before.length === after.length &&
      before.every((list, place) => {
        const other = after[place];
        return list === other || (other !== undefined && sameInLists(list, other));
      }),
  );
  return {
    of: ({ classes }) => columnsOf(classes),
    haveSameNames: (before, after) => before === after || haveSameNames(before, after),
  };
}
