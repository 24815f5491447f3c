import { type Cell, cellAt, FirstCell, unknownYet } from "./cell.ts";
import { type Known, type Memo, numberOf } from "./memo.ts";
import { plainPart } from "./plain-text.ts";
import { beginRecording, endRecording, touch, Use, useOf } from "./use.ts";
import { verify } from "./verify.ts";

/**
 * Inputs of a query that count otherwise than inferred. Objects count by identity: they are immutable, and every stage keeps them as they
 * are as long as nothing changed that they were made from. Plain values count by what they are. The exceptions: `elements` for a list that is
 * made anew each time, of objects that count by identity; `value` for an object that is made anew each time and counts by its content.
 */
export type Exceptions<I extends object> = {
  readonly [K in keyof I]?: I[K] extends readonly object[] | undefined
    ? "elements" | "value"
    : I[K] extends string | number | boolean | undefined
      ? never
      : "value";
};

/** @returns what `make` makes of the inputs; the same object for the same inputs */
export type Query<I extends object, T> = (memo: Memo, inputs: I) => T;

type Make<I extends object, T> = (inputs: I, memo: Memo) => T;

/**
 * A function whose results are remembered by its inputs: all fields of the object that it is called with. Queries stand at the top level of
 * their modules (a test checks it), so `make` sees its inputs and nothing else. It calls other queries with the memo that it is given.
 *
 * @param name no other query may have it (a test checks it)
 */
export function query<I extends object, T>(name: string, make: Make<I, T>): Query<I, T>;
export function query<I extends object, T>(name: string, exceptions: Exceptions<I>, make: Make<I, T>): Query<I, T>;
export function query<I extends object, T>(
  name: string,
  exceptions: Exceptions<I> | Make<I, T>,
  made?: Make<I, T>,
): Query<I, T> {
  const { reader, make } = declared(name, exceptions, made);
  return (memo, inputs) => resultOf(reader, make, memo, inputs);
}

/** What a declaration says: its exceptions may be left out. */
export function declared<I extends object, M>(
  name: string,
  exceptions: Exceptions<I> | M,
  made: M | undefined,
): { readonly reader: InputReader<I>; readonly make: M } {
  // With a third argument the second one is the exceptions, else the function.
  return made === undefined
    ? { reader: new InputReader<I>(name, {}), make: exceptions as M }
    : { reader: new InputReader(name, exceptions as Exceptions<I>), make: made };
}

/** One function for all queries, each of which is called too seldom for V8 to compile one of its own. */
function resultOf<I extends object, T>(reader: InputReader<I>, make: Make<I, T>, memo: Memo, inputs: I): T {
  const { known } = memo;
  if (known === undefined) return make(inputs, memo);
  const cell = reader.find(known, inputs);
  if (cell.value === unknownYet) {
    known.misses += 1;
    const outer = beginRecording(known);
    let used: readonly Use[] | undefined;
    try {
      cell.value = make(inputs, memo);
    } finally {
      used = endRecording(known, outer);
    }
    cell.use = reader.useOf(known, used);
  } else {
    known.hits += 1;
    if (known.verified !== undefined) verifyResult(known, reader.name, cell, make, memo, inputs);
  }
  if (cell.use !== undefined) touch(known, cell.use);
  // A cell belongs to one query, and a query has one type of result.
  return cell.value as T;
}

/** Apart, since a function whose variables a closure holds puts them all into an object, at each call. */
function verifyResult<I extends object, T>(
  known: Known,
  name: string,
  cell: Cell,
  make: Make<I, T>,
  memo: Memo,
  inputs: I,
): void {
  verify(known, name, cell, cell.value, () => make(inputs, memo));
}

/** Stands for an element that is not there. */
const absentElement: object = Object.freeze({});

/** Stands behind the last element of a list. */
const listEnd: object = Object.freeze({});

/** Objects first, since they hold what is behind them; then what may become one; plain values last. */
const ranks = { held: 0, absent: 1, plain: 2 } as const;

interface Field<I> {
  readonly name: keyof I;
  readonly exception: "elements" | "value" | undefined;
  readonly rank: 0 | 1 | 2;
}

/** Reads the inputs of one query. Which fields there are is learned from the calls. */
export class InputReader<I extends object> {
  readonly name: string;
  readonly #exceptions: Exceptions<I>;
  #number: number;
  /** Their names, as the first call has written them. */
  readonly #written: string[] = [];
  /** As they lead to a result. */
  #fields: readonly Field<I>[] = [];
  #isEvictable = false;

  constructor(name: string, exceptions: Exceptions<I>) {
    this.name = name;
    this.#exceptions = exceptions;
    this.#number = numberOf(name);
  }

  /** Whether results are found by plain values, too: they do not go with the objects that they were made from. */
  get isEvictable(): boolean {
    return this.#isEvictable;
  }

  /** Of a result. @param used what it was made with; undefined: nothing that can be evicted */
  useOf(known: Known, used: readonly Use[] | undefined): Use | undefined {
    if (!this.#isEvictable) return useOf(known, used);
    const use = new Use(known.generation);
    if (used !== undefined) use.beneath = used;
    return use;
  }

  /** Where the result is remembered: behind the inputs that count by identity, or their elements, and those that count by value. */
  find(known: Known, inputs: I): Cell {
    this.#learn(inputs);
    const root = known.roots[this.#number];
    if (root === undefined) {
      const first = new FirstCell(inputs);
      known.roots[this.#number] = first;
      return first;
    }
    if (root instanceof FirstCell && root.inputs !== undefined) {
      // What is kept there is of this query.
      root.way = this.#partsOf(root.inputs as I);
      root.inputs = undefined;
    }
    return cellAt(known, this.#number, this.#partsOf(inputs));
  }

  /** What other inputs are compared with. */
  termsOf(inputs: I): readonly unknown[] {
    this.#learn(inputs);
    return this.#partsOf(inputs);
  }

  /** What inputs are compared by, field by field; a list that is not there is not an empty one. */
  #partsOf(inputs: I): readonly unknown[] {
    // Of this length as a rule: a list that grows by itself takes up room for more.
    const parts: unknown[] = new Array(this.#fields.length);
    let length = 0;
    // Each input is looked up once: queries of all shapes come by here, and the lookups are what it costs.
    for (let at = 0; at < this.#fields.length; at++) {
      const { name, exception } = this.#fields[at] as Field<I>;
      const input = inputs[name];
      if (exception === "elements" && input !== undefined) {
        for (const element of elementsOf(input))
          parts[length++] = objectOf(element === undefined ? absentElement : element);
        parts[length++] = listEnd;
      } else parts[length++] = exception === undefined && isObject(input) ? input : plainPart(input);
    }
    return parts;
  }

  /** Every call has the same fields as a rule; another one is a field that all calls before lacked. */
  #learn(inputs: I): void {
    let at = 0;
    let others: string[] | undefined;
    for (const name in inputs) {
      if (name !== this.#written[at] && !this.#written.includes(name)) {
        others ??= [];
        others.push(name);
      }
      at += 1;
    }
    if (others === undefined) return;
    // What was remembered by fewer fields is remembered apart from what is remembered by all.
    if (this.#written.length > 0) this.#number = numberOf(`${this.name}, and by ${others.join()}`);
    this.#written.push(...others);
    const added = others.map((name) => this.#fieldOf(name as keyof I, inputs));
    this.#fields = [...this.#fields, ...added].sort((a, b) => a.rank - b.rank);
    this.#isEvictable = this.#fields.some(({ rank }) => rank !== ranks.held);
  }

  #fieldOf(name: keyof I, inputs: I): Field<I> {
    const exception = this.#exceptions[name];
    const input = inputs[name];
    if (exception === "value") return { name, exception, rank: ranks.plain };
    if (exception === "elements" || isObject(input)) return { name, exception, rank: ranks.held };
    return { name, exception, rank: input === undefined ? ranks.absent : ranks.plain };
  }
}

const isObject = (input: unknown): input is object =>
  (typeof input === "object" && input !== null) || typeof input === "function";

/** What is no object cannot count by identity. */
function objectOf(element: unknown): object {
  if (isObject(element)) return element;
  throw new TypeError(`counts by identity and is no object: ${String(element)}`);
}

function elementsOf(input: unknown): readonly unknown[] {
  if (Array.isArray(input)) return input;
  throw new TypeError(`counts by its elements and is no list: ${String(input)}`);
}
