import type { Edit, EditContext, Edited } from "./edit.ts";
import { field, metadata, targeted } from "./field-edits.ts";
import type { Folder } from "./folder.ts";
import { add, caseArrives, copy, goBack, remove, rename, reorder, swap, touch } from "./object-edits.ts";

/** A random edit, or a few at once; every object of the result is accepted by its schema and rules. */
export function randomEdit(context: EditContext, folder: Folder): Edited {
  const { dice } = context;
  const whats: string[] = [];
  let current = folder;
  for (let wanted = dice.pick([1, 1, 1, 2, 3]), attempt = 0; whats.length < wanted && attempt < 20; attempt++) {
    const edited = dice.pick(edits)(context, current);
    if (edited === undefined) continue;
    whats.push(edited.what);
    current = edited.folder;
  }
  return { what: whats.join("; "), folder: current };
}

/** How often each edit is made. */
const weights: readonly (readonly [weight: number, edit: Edit])[] = [
  [26, targeted],
  [9, field],
  [1, metadata],
  [4, add],
  [3, remove],
  [3, copy],
  [2, touch],
  [2, swap],
  [2, rename],
  [2, reorder],
  [2, goBack],
  [3, caseArrives],
];
const edits = weights.flatMap(([weight, edit]) => Array.from({ length: weight }, () => edit));
