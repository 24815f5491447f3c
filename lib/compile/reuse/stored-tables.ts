import { internValue } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { CompiledList } from "../../snapshot/compiled.ts";
import { storedForm } from "../../snapshot/reuse/stored-part.ts";

/**
 * Names of the route tables of a class, all of which lie in the store. They are those that its listeners asked for: each is there, and no
 * other. One list for the same names.
 *
 * @returns sorted; undefined where the ends of parts do not name all of them
 */
export const storedTables = query(
  "names of stored route tables",
  ({ routes }: { readonly routes: CompiledList }, memo: Memo): readonly string[] | undefined => {
    const names: string[] = [];
    for (const part of routes) {
      const form = storedForm(part);
      if (form === undefined || form.count > 2) return undefined;
      names.push(...(form.count === 1 ? [form.first] : [form.first, form.last]));
    }
    return internValue(memo, names);
  },
);
