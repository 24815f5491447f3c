import { type Cell, cellAt, FirstCell, unknownYet } from "./cell.ts";
import { type Known, type Memo, numberOf } from "./memo.ts";
import { plainPart } from "./plain-text.ts";

/**
 * How each input of a step counts: `identity` for immutable objects, which every stage keeps as they are as long as nothing
 * changed that they were made from; `elements` for lists that are made anew each time, of such objects; `value` for plain
 * values, which count by what they say. No input may be left out, so that an object with as many fields as there are inputs holds nothing else.
 */
export type InputKinds<I extends object> = {
  readonly [K in keyof I]-?: object extends Pick<I, K>
    ? never
    : I[K] extends readonly object[] | undefined
      ? "identity" | "elements" | "value"
      : I[K] extends object | undefined
        ? "identity" | "value"
        : "value";
};

/** @returns what `make` makes of the inputs; the same object for the same inputs */
export type Step<I extends object, T> = (memo: Memo, inputs: I) => T;

/**
 * A piece of work that is remembered by what it is made from. Steps stand at the top level of their modules (a test holds
 * them to it), so that `make` can see its inputs and nothing else: what it reads cannot be missing from what it is
 * remembered by. What it needs of other steps it asks for with the memo that it is handed.
 *
 * @param name no other step may have it (a test looks)
 */
export function step<I extends object, T>(
  name: string,
  kinds: InputKinds<I>,
  make: (inputs: I, memo: Memo) => T,
): Step<I, T> {
  const reader = new InputReader(name, kinds);
  return (memo, inputs) => stepped(reader, make, memo, inputs);
}

/** One function for all steps, each of which is taken too seldom for V8 to compile one of its own. */
function stepped<I extends object, T>(
  reader: InputReader<I>,
  make: (inputs: I, memo: Memo) => T,
  memo: Memo,
  inputs: I,
): T {
  const { known } = memo;
  if (known === undefined) return make(reader.own(inputs), memo);
  const cell = reader.find(known, inputs);
  if (cell.value === unknownYet) {
    known.misses += 1;
    cell.value = make(reader.ownAt(cell, inputs), memo);
  } else known.hits += 1;
  // A cell belongs to one step, and a step has one type of result.
  return cell.value as T;
}

/** Stands for an element that is not there. */
const absentElement: object = Object.freeze({});

/** Stands behind the last element of a list. */
const listEnd: object = Object.freeze({});

/** How the inputs of one step are read. */
export class InputReader<I extends object> {
  readonly #number: number;
  readonly #fields: readonly (keyof I)[];
  /** Those that count by identity, or by that of their elements. */
  readonly #held: readonly (keyof I)[];
  readonly #isList: readonly boolean[];
  readonly #values: readonly (keyof I)[];

  /** @param name as of `step` */
  constructor(name: string, kinds: InputKinds<I>) {
    const fields = fieldsOf(kinds);
    this.#number = numberOf(name);
    this.#fields = fields;
    this.#held = fields.filter((field) => kinds[field] !== "value");
    this.#isList = this.#held.map((field) => kinds[field] === "elements");
    this.#values = fields.filter((field) => kinds[field] === "value");
  }

  /** Where the result is remembered: behind the inputs that count by identity, or their elements, and those that count by value. */
  find(known: Known, inputs: I): Cell {
    const root = known.roots[this.#number];
    if (root === undefined) {
      const first = new FirstCell(this.own(inputs));
      known.roots[this.#number] = first;
      return first;
    }
    if (root instanceof FirstCell && root.inputs !== undefined) {
      // What is kept there is of this step.
      root.way = this.#wayOf(root.inputs as I);
      root.inputs = undefined;
    }
    return cellAt(known.roots, this.#number, this.#wayOf(inputs));
  }

  /** The inputs of a cell that was just found, without anything else that the caller's object holds. */
  ownAt(cell: Cell, inputs: I): I {
    // What is kept there is of this step.
    return cell instanceof FirstCell && cell.inputs !== undefined ? (cell.inputs as I) : this.own(inputs);
  }

  #wayOf(inputs: I): readonly unknown[] {
    const [held, values] = [this.#held, this.#values];
    const way: unknown[] = new Array(held.length + values.length);
    let length = 0;
    // Each input is looked up once: steps of all shapes come by here, and the lookups are what it costs.
    for (let at = 0; at < held.length; at++) {
      const input = inputs[held[at] as keyof I];
      if (input === undefined) way[length++] = undefined;
      else if (this.#isList[at] === true) {
        for (const element of elementsOf(input))
          way[length++] = objectOf(element === undefined ? absentElement : element);
        way[length++] = listEnd;
      } else way[length++] = objectOf(input);
    }
    for (let at = 0; at < values.length; at++) way[length++] = plainPart(inputs[values[at] as keyof I]);
    return way;
  }

  /** The inputs without anything else that the caller's object holds. */
  own(inputs: I): I {
    let fields = 0;
    for (const _ in inputs) fields += 1;
    return fields === this.#fields.length ? inputs : ownOf(inputs, this.#fields);
  }
}

/** Put together anew, and not taken away from: an object that a field was deleted from is slow to read for good. */
function ownOf<I extends object>(inputs: I, fields: readonly (keyof I)[]): I {
  const own: Partial<I> = {};
  for (const field of fields) own[field] = inputs[field];
  // Every field is there.
  return own as I;
}

/** What is no object cannot count by identity. */
function objectOf(input: unknown): object {
  if ((typeof input === "object" && input !== null) || typeof input === "function") return input;
  throw new TypeError(`counts by identity and is no object: ${String(input)}`);
}

export function elementsOf(input: unknown): readonly unknown[] {
  if (Array.isArray(input)) return input;
  throw new TypeError(`counts by its elements and is no list: ${String(input)}`);
}

/** Own fields, in the order in which they were written. */
export function fieldsOf<I extends object>(object: I): readonly (keyof I)[] {
  // `Object.keys` does not say that they are the object's.
  return Object.keys(object) as (keyof I)[];
}
