import type { Roots } from "./cell.ts";

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
  /** What each step remembers, at its number. */
  readonly roots: Roots;
  /** What was made last in each slot, at the number of its kind. */
  readonly last: (KindOfSlots | undefined)[];
  /** Compiles begun with this memo. */
  round: number;
  /** Steps that were remembered, and steps that were made. */
  hits: number;
  misses: number;
}

/**
 * Tells apart what is kept of one kind: it decides what is found again, never what comes out. A name that costs something is a function, which
 * is not asked as long as there is one slot: one is often all there is.
 */
export type Slot = string | (() => string);

/** The slots of one kind. */
export interface KindOfSlots {
  /** The one slot, as long as there is one. */
  only: (LastMade & { readonly slot: Slot }) | undefined;
  /** Every slot by its name, once there were two. */
  byName: Map<string, LastMade> | undefined;
}

export interface LastMade {
  readonly value: unknown;
  usedInRound: number;
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
  return { known: { roots: new Array(numbers.size), last: [], round: 0, hits: 0, misses: 0 } };
}

/** Empties a memo, for whoever has little room and will hardly ask for the same again. */
export function forget({ known }: Memo): void {
  known?.roots.fill(undefined);
  known?.last.fill(undefined);
}

/** Remembers nothing: what every remembered result must equal. */
export const noMemo: Memo = { known: undefined };
