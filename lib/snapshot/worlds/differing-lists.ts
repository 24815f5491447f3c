import type { CompiledList, CompiledPart } from "../compiled.ts";
import { memoizePairs } from "../memoize/memoize-pairs.ts";
import { isOfWorkload } from "../segment.ts";

/** Parts of two lists that only one of them has. */
export interface DifferingPart {
  readonly before: CompiledList;
  readonly after: CompiledList;
}

/**
 * Where two lists differ, by their parts. What classes share and what is of one workload come apart, so that the former are the
 * same parts for all classes that differ in them.
 *
 * @returns none for lists of the same parts
 */
export type DifferingLists = (before: CompiledList, after: CompiledList) => readonly DifferingPart[];

/** Remembers lists that were compared. The same parts apart are the same object: what is made of it is remembered by it, for all classes. */
export function createDifferingLists(): DifferingLists {
  const same = createSameAparts();
  const compare = memoizePairs((before: CompiledList, after: CompiledList): readonly DifferingPart[] => {
    const [gone, come] = [notIn(before, after), notIn(after, before)];
    return [true, false].flatMap((ofWorkload): readonly DifferingPart[] => {
      const isSide = (part: CompiledPart) => isOfWorkload(part[0]?.name ?? "") === ofWorkload;
      const apart = { before: gone.filter(isSide), after: come.filter(isSide) };
      return apart.before.length + apart.after.length === 0 ? [] : [same(apart)];
    });
  });
  return (before, after) => (before === after ? nothing : compare(before, after));
}

const nothing: readonly DifferingPart[] = [];

/** Parts of a list that another has not. Most of those that both have stand at one place. */
function notIn(list: CompiledList, other: CompiledList): CompiledList {
  const moved = list.filter((part, i) => part !== other[i]);
  if (moved.length === 0) return moved;
  const there = new Set(other);
  return moved.filter((part) => !there.has(part));
}

/** By the parts that lead to it. */
interface Node {
  readonly next: WeakMap<CompiledPart, Node>;
  apart: DifferingPart | undefined;
}

/** Stands between the parts of the two sides. */
const between: CompiledPart = [];

/** Gives the first of those that are alike. */
function createSameAparts(): (apart: DifferingPart) => DifferingPart {
  const newNode = (): Node => ({ next: new WeakMap(), apart: undefined });
  const root = newNode();
  const nodeAfter = (node: Node, part: CompiledPart): Node => {
    const next = node.next.get(part) ?? newNode();
    if (!node.next.has(part)) node.next.set(part, next);
    return next;
  };
  return (apart) => {
    const node = [...apart.before, between, ...apart.after].reduce(nodeAfter, root);
    node.apart ??= apart;
    return node.apart;
  };
}
