import { byCodePoint } from "../../base/diagnostic.ts";
import type { Memo } from "../../incremental/memo.ts";
import { classesAt, type ProxyClasses } from "../../mesh/classes/enter-classes.ts";

/** A share of a world's classes, which one process or thread compiles. The first says besides what belongs to no class. */
export interface Slice {
  /** 0-based. */
  readonly index: number;
  /** How many there are. */
  readonly of: number;
}

/** All of a world. */
export const wholeWorld: Slice = { index: 0, of: 1 };

/**
 * The classes of a slice, in their order. Which those are follows from the census alone, so whoever compiles another slice of the same
 * world leaves out just these. Classes of one namespace share most of their lists, so they stay together where that leaves nobody
 * more than his share.
 */
export function classesOfSlice(classes: ProxyClasses, { index, of }: Slice, memo: Memo): ProxyClasses {
  if (of === 1) return classes;
  const { proxies } = classes;
  const fair = Math.ceil(proxies.length / of);
  const namespaceOf = (row: number): string => proxies[row]?.namespace ?? "";
  const byNamespace = [...Map.groupBy(proxies.keys(), namespaceOf)].sort(([a], [b]) => byCodePoint(a, b));
  const runs = byNamespace.flatMap(([, alike]) => runsOf(alike, fair)).sort((a, b) => b.length - a.length);
  const loads = Array.from({ length: of }, () => 0);
  const own: number[] = [];
  for (const run of runs) {
    const lightest = loads.indexOf(Math.min(...loads));
    loads[lightest] = (loads[lightest] ?? 0) + run.length;
    if (lightest === index) own.push(...run);
  }
  return classesAt(
    memo,
    classes,
    own.sort((a, b) => a - b),
  );
}

/** @param most elements of a run; at least 1 */
function runsOf<T>(list: readonly T[], most: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / most) }, (_, i) => list.slice(i * most, (i + 1) * most));
}
