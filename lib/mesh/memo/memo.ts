import { behind, Fork, put } from "./fork.ts";
import type { KindOfSlots } from "./slots.ts";

/**
 * What a compiler process remembers between one compile and the next: results of steps (`step.ts`, `traced-step.ts`,
 * `pass.ts`), by what they were made from. Entries go with the objects that they were made from.
 *
 * A result never depends on the memo: `noMemo`, which remembers nothing, gives the same answers.
 */
export interface Memo {
  /** Undefined: nothing is remembered. */
  readonly known: Known | undefined;
}

/** The inside of a memo; only the steps look at it. */
export interface Known {
  /** Of each step that was taken once, at its number: many are taken no more, so where that led is looked at when it is taken again. */
  readonly firsts: (First | undefined)[];
  /** What each other step remembers, at its number. */
  readonly roots: (Cell | Branch | undefined)[];
  /** What was made last in each slot, at the number of its kind. */
  readonly last: (KindOfSlots | undefined)[];
  /** Compiles begun with this memo. */
  round: number;
  /** Steps that were remembered, and steps that were made. */
  hits: number;
  misses: number;
}

export interface First {
  readonly inputs: object;
  readonly cell: Cell;
}

/** Where ways part. */
type Branch = Fork<Cell | Branch>;

/** Nothing is remembered there. */
export const unknownYet: unique symbol = Symbol("unknown yet");

/** Something remembered, and the way that leads to it: what it was made from, one after the other. */
export class Cell {
  way: readonly unknown[];
  value: unknown = unknownYet;

  constructor(way: readonly unknown[]) {
    this.way = way;
  }
}

const numbers = new Map<string, number>();

/** Of a step, or of a kind of slots: a new process may number them otherwise. */
export function numberOf(name: string): number {
  const number = numbers.get(name) ?? numbers.size;
  numbers.set(name, number);
  return number;
}

/** A memo that lives as long as its owner: one per compiler process. */
export function createMemo(): Memo {
  return {
    known: { firsts: new Array(numbers.size), roots: new Array(numbers.size), last: [], round: 0, hits: 0, misses: 0 },
  };
}

/** Empties a memo, for whoever has little room and will hardly ask for the same again. */
export function forget({ known }: Memo): void {
  known?.firsts.fill(undefined);
  known?.roots.fill(undefined);
  known?.last.fill(undefined);
}

/** Remembers nothing: what every remembered result must equal. */
export const noMemo: Memo = { known: undefined };

/**
 * The cell at the end of a way. It stands where its way parts from all others, as a rule near the beginning: branches are made
 * when a second way comes.
 *
 * @param number of the step
 * @param way none may be the beginning of another one of the step; objects before plain values, which hold what is behind them
 */
export function cellAt({ roots }: Known, number: number, way: readonly unknown[]): Cell {
  let next = roots[number];
  if (next === undefined) {
    const made = new Cell(way);
    roots[number] = made;
    return made;
  }
  if (next instanceof Cell) {
    if (endsAlike(next.way, way, 0)) return next;
    next = branchAt(next, 0);
    roots[number] = next;
  }
  let branch: Branch = next;
  for (let at = 0; ; at++) {
    const below = behind(branch, way[at]);
    if (below === undefined) {
      const made = new Cell(way);
      put(branch, way[at], made);
      return made;
    }
    if (!(below instanceof Cell)) branch = below;
    else if (endsAlike(below.way, way, at + 1)) return below;
    else {
      const parting = branchAt(below, at + 1);
      put(branch, way[at], parting);
      branch = parting;
    }
  }
}

/** A branch with one cell behind it. */
function branchAt(cell: Cell, at: number): Branch {
  const branch = new Fork<Cell | Branch>();
  put(branch, cell.way[at], cell);
  return branch;
}

/** @param from before it both are the same */
function endsAlike(a: readonly unknown[], b: readonly unknown[], from: number): boolean {
  if (a.length !== b.length) return false;
  for (let at = from; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
