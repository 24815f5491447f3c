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
  const [old, now] = [new Set(before), new Set(after)];
  const gone = before.filter((part) => !now.has(part));
  const come = after.filter((part) => !old.has(part));
  return [true, false].flatMap((ofWorkload): readonly Apart[] => {
    const isSide = (part: CompiledPart) => isOfWorkload(part[0]?.name ?? "") === ofWorkload;
    const apart = { before: gone.filter(isSide), after: come.filter(isSide) };
    return apart.before.length + apart.after.length === 0 ? [] : [apart];
  });
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
