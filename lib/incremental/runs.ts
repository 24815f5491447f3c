import { unknownYet } from "./cell.ts";
import { lazily } from "./lazy.ts";
import { predecessorOf, type ReadonlyList, unchangedChunks } from "./list-delta.ts";
import type { Memo } from "./memo.ts";
import { type Exceptions, InputReader, query } from "./query.ts";
import { touch, Use, withUse } from "./use.ts";

/** A run of a list's elements, and what was made of it. */
export interface Run<E, T> {
  readonly elements: readonly E[];
  readonly made: T;
}

/**
 * Work on a long list run by run, where the end of a run follows from its own elements. Lists that have a run in common share what was made of
 * it, and a list that differs from others in one element costs the runs near that element, and a comparison for each of its elements.
 *
 * Like a query, it stands at the top level of its module: `endOf` and `make` see the elements and the context. A run is found by its first
 * element, and remembered as long as somebody holds it.
 *
 * @param endOf the place behind the last element of the run that begins at a place; no element behind that may have a say in it
 */
export function runs<C extends object, E extends object, T>(
  name: string,
  exceptions: Exceptions<C>,
  endOf: (elements: readonly E[], from: number, context: C, memo: Memo) => number,
  make: (run: readonly E[], context: C, memo: Memo) => T,
): InRuns<C, E, T> {
  const maker: Maker<C, E, T> = { reader: new InputReader(name, exceptions), endOf, make };
  return (memo, elements, order, context) => runsBy(maker, memo, { elements, order }, context);
}

/**
 * @param order places of the elements, in the order in which they fall into runs
 * @returns the runs, in that order
 */
export type InRuns<C extends object, E extends object, T> = (
  memo: Memo,
  elements: ReadonlyList<E>,
  order: readonly number[],
  context: C,
) => readonly Run<E, T>[];

interface Maker<C extends object, E extends object, T> {
  readonly reader: InputReader<C>;
  readonly endOf: (elements: readonly E[], from: number, context: C, memo: Memo) => number;
  readonly make: (run: readonly E[], context: C, memo: Memo) => T;
}

interface KnownRun<E, T> extends Run<E, T> {
  /** It ends where its list did, and might have gone on. */
  readonly isLast: boolean;
  /** What it was made with. */
  readonly use: Use | undefined;
}

/** What was made in one context. Weakly, so that of runs that were changed nothing is left. */
interface Known<E extends object, T> {
  /** By their first element. */
  readonly byFirst: WeakMap<E, readonly WeakRef<KnownRun<E, T>>[]>;
  readonly ofLists: WeakMap<ReadonlyList<E>, InRunsBefore<E, T>>;
}

/** The runs of a list. */
interface InRunsBefore<E, T> {
  readonly order: readonly number[];
  readonly runs: readonly KnownRun<E, T>[];
}

/** Elements, and their places in the order in which they fall into runs. */
interface Ordered<E> {
  readonly elements: ReadonlyList<E>;
  readonly order: readonly number[];
}

function runsBy<C extends object, E extends object, T>(
  { reader, endOf, make }: Maker<C, E, T>,
  memo: Memo,
  list: Ordered<E>,
  context: C,
): readonly Run<E, T>[] {
  const { elements, order } = list;
  const known = knownIn<C, E, T>(reader, memo, context);
  // Few lists have a run that is not known.
  const ordered = lazily(() => order.map((place) => elements.at(place) as E));
  const made = (from: number): KnownRun<E, T> => {
    const others = known?.byFirst.get(elements.at(order[from] as number) as E) ?? [];
    const standing = runAt(others, list, from);
    if (standing !== undefined) return standing;
    const end = endOf(ordered(), from, context, memo);
    const own = ordered().slice(from, end);
    const { value, use } = withUse(memo.known, () => make(own, context, memo));
    const run = { elements: own, made: value, isLast: end === order.length, use };
    known?.byFirst.set(own[0] as E, [new WeakRef(run), ...others.filter((other) => other.deref() !== undefined)]);
    return run;
  };
  const before = known === undefined ? undefined : runsBefore(memo, known, list);
  const found: KnownRun<E, T>[] = [];
  for (let from = 0; from < order.length; ) {
    const run = before?.(from) ?? made(from);
    if (memo.known !== undefined && run.use !== undefined) touch(memo.known, run.use);
    found.push(run);
    from += run.elements.length;
  }
  known?.ofLists.set(elements, { order, runs: found });
  return found;
}

/**
 * The runs of the list that this one is nearly the same as.
 *
 * @returns gives the one that begins at a place, unless an element of it is another now; to be asked for ascending places
 */
function runsBefore<E extends object, T>(
  memo: Memo,
  { ofLists }: Known<E, T>,
  { elements, order }: Ordered<E>,
): ((from: number) => KnownRun<E, T> | undefined) | undefined {
  const before = predecessorOf(elements);
  const inRuns = before && ofLists.get(before.list);
  if (inRuns?.order !== order) return undefined;
  const standing = standingIn(memo, { order });
  const others = (before?.places ?? []).flatMap((place) => standing[place] ?? []).sort((a, b) => a - b);
  return unchangedChunks(inRuns.runs, ({ elements: run }) => run.length, others);
}

/** Where each place stands in an order, which many lists have in common. */
const standingIn = query(
  "standing of places",
  ({ order }: { readonly order: readonly number[] }): readonly number[] => {
    const standing: number[] = [];
    for (let at = 0; at < order.length; at++) standing[order[at] as number] = at;
    return standing;
  },
);

/** The one of them that a list has at a place. */
function runAt<E, T>(
  runs: readonly WeakRef<KnownRun<E, T>>[],
  list: Ordered<E>,
  from: number,
): KnownRun<E, T> | undefined {
  for (const known of runs) {
    const run = known.deref();
    if (run !== undefined && standsAt(run, list, from)) return run;
  }
  return undefined;
}

/** @returns undefined where nothing is remembered */
function knownIn<C extends object, E extends object, T>(
  reader: InputReader<C>,
  memo: Memo,
  context: C,
): Known<E, T> | undefined {
  if (memo.known === undefined) return undefined;
  const cell = reader.find(memo.known, context);
  if (cell.value === unknownYet) cell.value = { byFirst: new WeakMap(), ofLists: new WeakMap() };
  if (reader.isEvictable) {
    cell.use ??= new Use(memo.known.generation);
    touch(memo.known, cell.use);
  }
  // What is kept there is of this reader.
  return cell.value as Known<E, T>;
}

function standsAt<E, T>(
  { elements: run, isLast }: KnownRun<E, T>,
  { elements, order }: Ordered<E>,
  from: number,
): boolean {
  const end = from + run.length;
  if (isLast ? end !== order.length : end > order.length) return false;
  for (let at = 1; at < run.length; at++) if (run[at] !== elements.at(order[from + at] as number)) return false;
  return true;
}
