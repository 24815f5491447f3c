import type { CompiledList, CompiledPart } from "../compiled.ts";
import { isOfWorkload } from "../segment.ts";

/** Parts of two lists that only one of them has. */
export interface Apart {
  readonly before: CompiledList;
  readonly after: CompiledList;
}

/**
 * Where two lists differ, by their parts. What classes share and what is of one workload come apart, so that the former are the
 * same parts for all classes that differ in them.
 *
 * @returns none for lists of the same parts
 */
export function partsApart(before: CompiledList, after: CompiledList): readonly Apart[] {
  if (before === after) return [];
  const gone = notIn(before, after);
  const come = notIn(after, before);
  return [true, false].flatMap((ofWorkload): readonly Apart[] => {
    const isSide = (part: CompiledPart) => isOfWorkload(part[0]?.name ?? "") === ofWorkload;
    const apart = { before: gone.filter(isSide), after: come.filter(isSide) };
    return apart.before.length + apart.after.length === 0 ? [] : [apart];
  });
}

/** Parts of a list that another has not. Of lists that were apart by a change, most stand where they stood. */
function notIn(list: CompiledList, other: CompiledList): CompiledList {
  const apart = list.filter((part, i) => part !== other[i]);
  if (apart.length === 0) return apart;
  const there = new Set(other);
  return apart.filter((part) => !there.has(part));
}

interface Node<R> {
  readonly next: WeakMap<CompiledPart, Node<R>>;
  made: { readonly result: R } | undefined;
}

const createNode = <R>(): Node<R> => ({ next: new WeakMap(), made: undefined });

/** Stands between the parts of the two sides. */
const between: CompiledPart = [];

/** Remembers what was made of differences, by the identity of their parts: classes that share parts share what comes of them. */
export function rememberApart<R>(make: (apart: Apart) => R): (apart: Apart) => R {
  const root = createNode<R>();
  return (apart) => {
    let node = root;
    for (const part of [...apart.before, between, ...apart.after]) {
      const next: Node<R> = node.next.get(part) ?? createNode();
      node.next.set(part, next);
      node = next;
    }
    node.made ??= { result: make(apart) };
    return node.made.result;
  };
}
