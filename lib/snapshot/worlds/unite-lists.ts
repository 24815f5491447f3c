import { byCodePoint } from "../../base/diagnostic.ts";
import { type CompiledList, type CompiledPart, type CompiledResource, resourcesIn } from "../compiled.ts";
import { splitBetween } from "../long/split-between.ts";
import { memoizeEach } from "../memoize/memoize-each.ts";
import { memoizePairs } from "../memoize/memoize-pairs.ts";
import { isOfWorkload } from "../segment.ts";
import { createDifferingLists, type DifferingLists, type DifferingPart } from "./differing-lists.ts";

/**
 * Unites lists: all of the first, and of the others what has a name of its own, the earlier list winning. The first list itself when
 * nothing is added; the same parts give the same parts, so that classes go on sharing them.
 */
export type Union = (first: CompiledList, others: readonly CompiledList[]) => CompiledList;

/** @param apart knows lists that were compared already */
export function createUnion(apart: DifferingLists = createDifferingLists()): Union {
  const lacking = memoizeEach(({ before, after }: DifferingPart): CompiledPart => {
    const names = new Set(resourcesIn(before).map(({ name }) => name));
    return resourcesIn(after).filter(({ name }) => !names.has(name));
  });
  const insert = createInserter();
  const insertAll = memoizePairs((first: CompiledList, second: CompiledList) =>
    apart(first, second)
      .map(lacking)
      .reduce((list, added) => (added.length === 0 ? list : insert(list, added)), first),
  );
  const unitePair = (first: CompiledList, second: CompiledList): CompiledList =>
    apart(first, second).some((one) => lacking(one).length > 0) ? insertAll(first, second) : first;
  return (first, others) => others.reduce((list, other) => (other === list ? list : unitePair(list, other)), first);
}

/**
 * Puts sorted resources into the parts of a list in which their names lie; those that it has by name are left out. What is of one workload comes
 * into parts of its own, as in a list that was read: lists are compared by them.
 */
function createInserter(): (list: CompiledList, added: CompiledPart) => CompiledList {
  const merges = memoizePairs((_part: CompiledPart, _added: CompiledPart) => new Map<string, CompiledList>());
  const merge = (part: CompiledPart, added: CompiledPart, from: number, to: number): CompiledList => {
    const results = merges(part, added);
    const key = `${from} ${to}`;
    const result = results.get(key) ?? mergeSorted(part, added.slice(from, to));
    results.set(key, result);
    return result;
  };
  return (list, added) => {
    if (list.length === 0) return [added];
    let from = 0;
    const merged = list.flatMap((part, i) => {
      const to = endOfShare(part, list[i + 1], added, from);
      const more = to > from ? merge(part, added, from, to) : [part];
      from = to;
      return more;
    });
    return merged.length === list.length && merged.every((part, i) => part === list[i]) ? list : merged;
  };
}

/** How far the added names lie in or about a part: those between two parts go to the one of their kind, else to the earlier one. */
function endOfShare(part: CompiledPart, next: CompiledPart | undefined, added: CompiledPart, from: number): number {
  if (next === undefined) return added.length;
  const [last, first] = [part.at(-1)?.name ?? "", next[0]?.name ?? ""];
  let to = from;
  for (;;) {
    const name = added[to]?.name;
    if (name === undefined || name >= first) return to;
    const isOfNext =
      name > last && isOfWorkload(name) === isOfWorkload(first) && isOfWorkload(name) !== isOfWorkload(last);
    if (isOfNext) return to;
    to += 1;
  }
}

function mergeSorted(part: CompiledPart, added: CompiledPart): CompiledList {
  const names = new Set(part.map(({ name }) => name));
  const more = added.filter(({ name }: CompiledResource) => !names.has(name));
  if (more.length === 0) return [part];
  const all = [...part, ...more].sort((a, b) => byCodePoint(a.name, b.name));
  return splitBetween(all, (a, b) => isOfWorkload(a.name) !== isOfWorkload(b.name));
}
