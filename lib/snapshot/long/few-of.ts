import { cutEvenly } from "../../base/cut-evenly.ts";

/** How lists of lists are made. */
export interface FewOf<L> {
  /** So many are few. */
  readonly most: number;
  /** About so many lists another one names. */
  readonly perList: number;
  /** From 0 to 1: where a list of lists ends follows from it. */
  readonly cutHashOf: (list: L) => number;
  readonly listOf: (lists: readonly L[]) => L;
}

/** Lists, or lists of these, until they are few: so that whoever names them is short, and a change of one rewrites few others. */
export function fewOf<L>(lists: readonly L[], how: FewOf<L>): readonly L[] {
  if (lists.length <= how.most) return lists;
  const cut = { weight: () => 1, hash: how.cutHashOf };
  return fewOf(cutEvenly(lists, how.perList, cut).map(how.listOf), how);
}
