import {
  follow,
  type Known,
  type KnownNode,
  keepAt,
  knownAt,
  type Memo,
  numberOf,
  rootOf,
  unknownYet,
} from "./memo.ts";
import { plainText, shortKey } from "./plain-text.ts";

/**
 * How each input of a step counts: `identity` for immutable objects, which every stage keeps as they are as long as nothing
 * changed that they were made from; `elements` for lists that are made anew each time, of such objects; `value` for plain
 * values, which count by what they say.
 */
export type InputKinds<I extends object> = {
  readonly [K in keyof I]-?: I[K] extends readonly object[] | undefined
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
  const inputsOf = inputReader(name, kinds);
  return (memo, inputs) => {
    if (memo.known === undefined) return make(inputsOf.own(inputs), memo);
    const { node, key, missing } = inputsOf.find(memo.known, inputs);
    const known = knownAt<T>(node, key);
    if (known !== unknownYet) {
      memo.known.hits += 1;
      return known;
    }
    memo.known.misses += 1;
    return keepAt(node, key, make(inputsOf.own(inputs, missing), memo));
  };
}

/** Stands for an input that is not there. */
const absent: object = Object.freeze({});

/** Stands for an element that is not there. */
const absentElement: object = Object.freeze({});

/** Leads to what is remembered by texts that were made of a value, and are none themselves. */
const written: object = Object.freeze({});

/** Where the inputs of one step lead to among what is remembered. */
interface Found {
  /** The node behind the inputs that count by identity, their own or that of their elements. */
  readonly node: KnownNode;
  /** The inputs that count by value. */
  readonly key: unknown;
  /** How many inputs the caller's object does not have. */
  readonly missing: number;
}

/** How the inputs of one step are read. */
export interface InputReader<I extends object> {
  find(known: Known, inputs: I): Found;
  /**
   * The inputs without anything else that the caller's object holds.
   *
   * @param missing as found; without it the inputs are put together anew
   */
  own(inputs: I, missing?: number): I;
}

/** @param name as of `step` */
export function inputReader<I extends object>(name: string, kinds: InputKinds<I>): InputReader<I> {
  const number = numberOf(name);
  const fields = fieldsOf(kinds);
  const held = fields.filter((field) => kinds[field] !== "value");
  const isList = held.map((field) => kinds[field] === "elements");
  const values = fields.filter((field) => kinds[field] === "value");
  // How long a single list is follows from how far its elements led.
  const lists = held.filter((_, at) => isList[at] === true);
  const measured = lists.length > 1 ? lists : [];
  const [first] = values;
  const only = values.length === 1 && measured.length === 0 ? first : undefined;
  return {
    // Each input is looked up once: steps of all shapes come by here, and the lookups are what it costs.
    find: (known, inputs) => {
      let node = rootOf(known, number);
      let missing = 0;
      for (let at = 0; at < held.length; at++) {
        const field = held[at] as keyof I;
        const input = inputs[field];
        if (input === undefined) {
          node = follow(node, absent);
          if (!(field in inputs)) missing += 1;
        } else if (isList[at] === true)
          for (const element of elementsOf(input))
            node = follow(node, objectOf(element === undefined ? absentElement : element));
        else node = follow(node, objectOf(input));
      }
      if (only !== undefined) {
        const value = inputs[only];
        if (value === undefined && !(only in inputs)) missing += 1;
        if (isOwnKey(value)) return { node, key: value ?? absent, missing };
        return { node: follow(node, written), key: keptKey(plainText(value)), missing };
      }
      let key = "";
      for (let at = 0; at < values.length; at++) {
        const field = values[at] as keyof I;
        const value = inputs[field];
        if (value === undefined && !(field in inputs)) missing += 1;
        key += plainText(value);
      }
      for (const field of measured) key += `${elementsOf(inputs[field]).length};`;
      return { node, key: keptKey(key), missing };
    },
    own: (inputs, missing) =>
      missing !== undefined && countFields(inputs) === fields.length - missing ? inputs : ownOf(inputs, fields),
  };
}

/** What is its own key, and no other's. */
function isOwnKey(value: unknown): value is string | number | boolean | undefined {
  switch (typeof value) {
    case "string":
      return value.length <= longestKey;
    case "number":
    case "boolean":
    case "undefined":
      return true;
    default:
      return false;
  }
}

/** Keys up to this length are kept as they are, in UTF-16 code units: a list of a mesh's services is longer than all that is made of it. */
const longestKey = 4096;

const keptKey = (key: string): string => (key.length > longestKey ? shortKey(key) : key);

function countFields(object: object): number {
  let count = 0;
  for (const _ in object) count += 1;
  return count;
}

/** Put together anew, and not taken away from: an object that a field was deleted from is slow to read for good. */
function ownOf<I extends object>(inputs: I, fields: readonly (keyof I)[]): I {
  const own: Partial<I> = {};
  for (const field of fields) if (field in inputs) own[field] = inputs[field];
  // Every field that the inputs have.
  return own as I;
}

/** What is no object cannot count by identity. */
function objectOf(input: unknown): object {
  if ((typeof input === "object" && input !== null) || typeof input === "function") return input;
  throw new TypeError(`counts by identity and is no object: ${String(input)}`);
}

const absentList: readonly unknown[] = [absent];

/** The elements of a list; undefined stands for a list that is not there, which is not an empty one. */
export function elementsOf(input: unknown): readonly unknown[] {
  if (input === undefined) return absentList;
  if (Array.isArray(input)) return input;
  throw new TypeError(`counts by its elements and is no list: ${String(input)}`);
}

/** Own fields, in the order in which they were written. */
export function fieldsOf<I extends object>(object: I): readonly (keyof I)[] {
  // `Object.keys` does not say that they are the object's.
  return Object.keys(object) as (keyof I)[];
}
