import type { Cells } from "./cell.ts";
import type { Use, Uses } from "./use.ts";

/**
 * What a compiler process remembers between one compile and the next: results of queries (`query.ts`, `tracked-query.ts`,
 * `mapped-list.ts`), by what they were made from. Entries go with the objects that they were made from. Those that no object leads to (entries, and
 * what is found by plain values in large tables) are evicted when nothing has used them for 64 compiles, itself or by a result that was
 * made with them.
 *
 * A result never depends on the memo: `noMemo`, which remembers nothing, gives the same answers.
 */
export interface Memo {
  /** Undefined: nothing is remembered. */
  readonly known: Known | undefined;
}

/** The inside of a memo; only the queries look at it. */
export interface Known extends Cells, Uses {
  /** What was made last in each entry, at the number of its kind. */
  readonly last: (EntriesOfKind | undefined)[];
  /** Compiles begun with this memo. */
  revision: number;
  /** Queries that were remembered, and queries that were made. */
  hits: number;
  misses: number;
  /** Results that were checked in this revision; undefined: none is. */
  verified: WeakSet<object> | undefined;
}

export interface MemoOptions {
  /** Plain values by which one table finds results, as a rule 131,072. Beyond it those are evicted that were not used for longest. */
  readonly maxValues?: number;
  /**
   * Runs the body of each result that is found again, once a compile, and compares what comes out: a body that reads something beside its
   * inputs is an error then. For tests: a compile costs as much as one from nothing.
   */
  readonly verifies?: boolean;
}

/**
 * Tells apart what is kept of one kind: it decides what is found again, never what comes out. A name that costs something is a function, which
 * is not asked as long as there is one entry: one is often all there is.
 */
export type EntryName = string | (() => string);

/** The entries of one kind. */
export interface EntriesOfKind {
  /** The one entry, as long as there is one. */
  only: (LastMade & { readonly entry: EntryName }) | undefined;
  /** Every entry by its name, once there were two. */
  byName: Map<string, LastMade> | undefined;
}

export interface LastMade {
  value: unknown;
  readonly use: Use;
}

const numbers = new Map<string, number>();

/** Of a query, or of a kind of entries: a new process may number them otherwise. */
export function numberOf(name: string): number {
  const number = numbers.get(name) ?? numbers.size;
  numbers.set(name, number);
  return number;
}

/** Values of one table: more than the largest meshes have services and ports, so what is in use is not evicted. */
const defaultMaxValues = 131_072;

/** A memo that lives as long as its owner: one per compiler process. */
export function createMemo({ maxValues = defaultMaxValues, verifies = false }: MemoOptions = {}): Memo {
  return {
    known: {
      roots: new Array(numbers.size),
      tables: { maxValues, large: [] },
      last: [],
      revision: 0,
      generation: 0,
      recording: undefined,
      recordings: 0,
      hits: 0,
      misses: 0,
      verified: verifies ? new WeakSet() : undefined,
    },
  };
}

/** Empties a memo, for whoever has little room and will hardly ask for the same again. */
export function forget({ known }: Memo): void {
  known?.roots.fill(undefined);
  known?.last.fill(undefined);
}

/** Remembers nothing: what every remembered result must equal. */
export const noMemo: Memo = { known: undefined };
