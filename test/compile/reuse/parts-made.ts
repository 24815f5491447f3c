import type { CompiledWorld } from "../../../lib/snapshot/compiled.ts";
import { resourceTypes, shapes } from "../../../lib/snapshot/resource-type.ts";
import { storedForm } from "../../../lib/snapshot/reuse/stored-part.ts";

/** How many different parts of lists a compile has made, and how many it has taken as they lie in the store. */
export function madePartsIn({ classes }: CompiledWorld): { readonly made: number; readonly taken: number } {
  const parts = new Set(
    classes.flatMap((one) => shapes.flatMap((shape) => resourceTypes.flatMap((type) => one[shape][type] ?? []))),
  );
  const taken = [...parts].filter((part) => storedForm(part) !== undefined).length;
  return { made: parts.size - taken, taken };
}
