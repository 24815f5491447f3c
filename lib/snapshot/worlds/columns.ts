import { type CompiledList, type CompiledWorld, listIn } from "../compiled.ts";
import { rememberEach } from "../remember-each.ts";
import { rememberRuns } from "../remember-runs.ts";
import { type ResourceType, shapes } from "../resource-type.ts";

/** Of each type the lists of all classes: that of a class's stream shape and that of its poll shape, class by class. */
export type Columns = Readonly<Record<ResourceType, readonly CompiledList[]>>;

/** Takes classes apart by type. The same lists are the same column, an object: what is made of a column is remembered by it. */
export type ColumnsOf = (classes: CompiledWorld["classes"]) => Columns;

/** Most changes leave most columns as they are, and one pass of comparisons tells. */
export function createColumns(): ColumnsOf {
  const same = rememberRuns((column: readonly CompiledList[]) => column);
  return rememberEach((classes) => {
    const columnOf = (type: ResourceType): readonly CompiledList[] => {
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
}
