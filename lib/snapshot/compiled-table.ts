import { type CompiledClass, type CompiledShape, type CompiledTable, noList } from "./compiled.ts";
import type { ShapeName } from "./resource-type.ts";

/** Puts classes together. @param ids sorted, unique; as many as the columns are long */
export function compiledTable(ids: readonly string[], lists: CompiledTable["lists"]): CompiledTable {
  const { clusters, endpoints, listeners, routes, extension_configs: extensions, name_tables: names } = lists;
  const classes: CompiledClass[] = [];
  const shapeOf = (shape: ShapeName, row: number): CompiledShape => {
    const made = {
      clusters: clusters?.[shape][row] ?? noList,
      endpoints: endpoints?.[shape][row] ?? noList,
      listeners: listeners?.[shape][row] ?? noList,
      routes: routes?.[shape][row] ?? noList,
    };
    const extension_configs = extensions?.[shape][row] ?? noList;
    const name_tables = names?.[shape][row] ?? noList;
    if (extension_configs.length === 0 && name_tables.length === 0) return made;
    return {
      ...made,
      ...(extension_configs.length === 0 ? {} : { extension_configs }),
      ...(name_tables.length === 0 ? {} : { name_tables }),
    };
  };
  for (let row = 0; row < ids.length; row++)
    classes.push({ id: ids[row] ?? "", stream: shapeOf("stream", row), poll: shapeOf("poll", row) });
  return { classes, lists };
}
