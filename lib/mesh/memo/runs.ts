import { unknownYet } from "./cell.ts";
import type { Memo } from "./memo.ts";
import { type InputKinds, InputReader } from "./step.ts";

/** A run of a list's elements, and what was made of it. */
export interface Run<E, T> {
  readonly elements: readonly E[];
  readonly made: T;
}

/**
 * Work on a long list run by run, where the end of a run follows from its own elements. Lists that have a run in common share what was made of
 * it, and a list that differs from others in one element costs the runs near that element, and a comparison for each of its elements.
 *
 * Like a step, it stands at the top level of its module: `endOf` and `make` see the elements and the context. A run is found by its first
 * element, and remembered as long as somebody holds it.
 *
 * @param endOf the place behind the last element of the run that begins at a place; no element behind that may have a say in it
 */
export function runs<C extends object, E extends object, T>(
  name: string,
  kinds: InputKinds<C>,
  endOf: (elements: readonly E[], from: number, context: C, memo: Memo) => number,
  make: (run: readonly E[], context: C, memo: Memo) => T,
): InRuns<C, E, T> {
  const maker: Maker<C, E, T> = { reader: new InputReader(name, kinds), endOf, make };
  return (memo, elements, context) => runsBy(maker, memo, elements, context);
}

/** @returns the runs that the elements fall into, in their order */
export type InRuns<C extends object, E extends object, T> = (
  memo: Memo,
  elements: readonly E[],
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
}

/** By their first element. Weakly, so that of runs that were changed nothing is left. */
type KnownRuns<E extends object, T> = WeakMap<E, readonly WeakRef<KnownRun<E, T>>[]>;

function runsBy<C extends object, E extends object, T>(
  { reader, endOf, make }: Maker<C, E, T>,
  memo: Memo,
  elements: readonly E[],
  context: C,
): readonly Run<E, T>[] {
  const used = reader.own(context);
  const known = knownRuns<C, E, T>(reader, memo, used);
  const found: KnownRun<E, T>[] = [];
  for (let from = 0; from < elements.length; ) {
    const first = elements[from] as E;
    const others = known?.get(first) ?? [];
    let run = others
      .map((other) => other.deref())
      .find((other) => other !== undefined && beginsAt(other, elements, from));
    if (run === undefined) {
      const end = endOf(elements, from, used, memo);
      const own = elements.slice(from, end);
      run = { elements: own, made: make(own, used, memo), isLast: end === elements.length };
      known?.set(first, [new WeakRef(run), ...others.filter((other) => other.deref() !== undefined)]);
    }
    found.push(run);
    from += run.elements.length;
  }
  return found;
}

/** @returns undefined where nothing is remembered */
function knownRuns<C extends object, E extends object, T>(
  reader: InputReader<C>,
  memo: Memo,
  context: C,
): KnownRuns<E, T> | undefined {
  if (memo.known === undefined) return undefined;
  const cell = reader.find(memo.known, context);
  if (cell.value === unknownYet) cell.value = new WeakMap();
  // What is kept there is of this reader.
  return cell.value as KnownRuns<E, T>;
}

function beginsAt<E, T>({ elements: run, isLast }: KnownRun<E, T>, elements: readonly E[], from: number): boolean {
  const end = from + run.length;
  if (isLast ? end !== elements.length : end > elements.length) return false;
  for (let at = 1; at < run.length; at++) if (run[at] !== elements[from + at]) return false;
  return true;
}
