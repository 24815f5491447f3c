import { behind, type Evictable, Fork, put, type Tables } from "./fork.ts";
import type { Use } from "./use.ts";

/** Where ways part. */
type Branch = Fork<Cell | Branch>;

/** Nothing is remembered there. */
export const unknownYet: unique symbol = Symbol("unknown yet");

/** Something remembered, and the way that leads to it: what it was made from, one after the other. */
export class Cell implements Evictable {
  way: readonly unknown[];
  value: unknown = unknownYet;
  /** Undefined where it goes with the objects that it was made from, and so does all that it was made with. */
  use: Use | undefined = undefined;

  constructor(way: readonly unknown[]) {
    this.way = way;
  }

  lastUse(): number {
    return this.use?.generation ?? Infinity;
  }
}

/** What each query remembers, at its number. */
export type Roots = (Cell | Branch | undefined)[];

export interface Cells {
  readonly roots: Roots;
  readonly tables: Tables;
}

/** The first of a query. Many queries are taken once, so the way to it is looked at when its query is taken again. */
export class FirstCell extends Cell {
  /** What it was made from, as long as nobody has looked at the way. */
  inputs: object | undefined;

  constructor(inputs: object) {
    super(noWay);
    this.inputs = inputs;
  }
}

const noWay: readonly unknown[] = [];

/**
 * The cell at the end of a way. It stands where its way parts from all others, as a rule near the beginning: branches are made
 * when a second way comes.
 *
 * @param number of the query
 * @param way none may be the beginning of another one of the query; objects before plain values, which hold what is behind them
 */
export function cellAt({ roots, tables }: Cells, number: number, way: readonly unknown[]): Cell {
  let next = roots[number];
  if (next === undefined) {
    const made = new Cell(way);
    roots[number] = made;
    return made;
  }
  if (next instanceof Cell) {
    if (endsAlike(next.way, way, 0)) return next;
    next = branchAt(next, 0, tables);
    roots[number] = next;
  }
  let branch: Branch = next;
  for (let at = 0; ; at++) {
    const below = behind(branch, way[at]);
    if (below === undefined) {
      const made = new Cell(way);
      put(branch, way[at], made, tables);
      return made;
    }
    if (!(below instanceof Cell)) branch = below;
    else if (endsAlike(below.way, way, at + 1)) return below;
    else {
      const parting = branchAt(below, at + 1, tables);
      put(branch, way[at], parting, tables);
      branch = parting;
    }
  }
}

/** A branch with one cell behind it. */
function branchAt(cell: Cell, at: number, tables: Tables): Branch {
  const branch = new Fork<Cell | Branch>();
  put(branch, cell.way[at], cell, tables);
  return branch;
}

/** @param from before it both are the same */
function endsAlike(a: readonly unknown[], b: readonly unknown[], from: number): boolean {
  if (a.length !== b.length) return false;
  for (let at = from; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
