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
  /** What each step remembers: the node before its first input, at its number. */
  readonly roots: (KnownNode | undefined)[];
  /** The node before lists and values that are made one. */
  readonly root: KnownNode;
  /** Lists, maps and passes as they were last, by name. */
  readonly last: Map<string, LastMade>;
  /** Compiles begun with this memo. */
  round: number;
  /** Steps that were remembered, and steps that were made. */
  hits: number;
  misses: number;
}

export interface LastMade {
  readonly value: unknown;
  usedInRound: number;
}

/**
 * What is remembered under a chain of objects, and the objects that follow. Most nodes have one value and one object after
 * them, so collections are made only when there is more: they cost the garbage collector far more than the values do, weak
 * ones most of all.
 */
export interface KnownNode {
  /** The text of a step's plain inputs. */
  key: unknown;
  value: unknown;
  others: Map<unknown, unknown> | undefined;
  /** The one object that follows, as long as there is one. It is held, so it may outlive its owner until a second comes. */
  only: object | undefined;
  afterOnly: KnownNode | undefined;
  /** Every object that follows, once there were two. */
  next: WeakMap<object, KnownNode> | undefined;
}

const createNode = (): KnownNode => ({
  key: undefined,
  value: undefined,
  others: undefined,
  only: undefined,
  afterOnly: undefined,
  next: undefined,
});

/** A memo that lives as long as its owner: one per compiler process. */
export function createMemo(): Memo {
  return { known: { roots: [], root: createNode(), last: new Map(), round: 0, hits: 0, misses: 0 } };
}

/** Remembers nothing: what every remembered result must equal. */
export const noMemo: Memo = { known: undefined };

const numbers = new Map<string, number>();

/** Of a step: a new process may number them otherwise. */
export function numberOf(name: string): number {
  const number = numbers.get(name) ?? numbers.size;
  numbers.set(name, number);
  return number;
}

/** The node before the first input of a step. @param number of the step */
export function rootOf({ roots }: Known, number: number): KnownNode {
  const known = roots[number];
  if (known !== undefined) return known;
  const made = createNode();
  roots[number] = made;
  return made;
}

/** The node behind an object. */
export function follow(node: KnownNode, object: object): KnownNode {
  if (node.only === object && node.afterOnly !== undefined) return node.afterOnly;
  const known = node.next?.get(object);
  if (known !== undefined) return known;
  const made = createNode();
  if (node.next !== undefined) node.next.set(object, made);
  else if (node.only === undefined) {
    node.only = object;
    node.afterOnly = made;
  } else {
    node.next = new WeakMap();
    if (node.afterOnly !== undefined) node.next.set(node.only, node.afterOnly);
    node.next.set(object, made);
    node.only = undefined;
    node.afterOnly = undefined;
  }
  return made;
}

/** Values that one node keeps for plain inputs; beyond it starts anew. */
const maxOthers = 16_384;

/** Nothing is remembered there. */
export const unknownYet: unique symbol = Symbol("unknown yet");

/** The value at a node. */
export function knownAt<T>(node: KnownNode, key: unknown): T | typeof unknownYet {
  // A node belongs to one step, and a step has one type of result.
  if (node.key === key) return node.value as T;
  const { others } = node;
  return others?.has(key) ? (others.get(key) as T) : unknownYet;
}

/** Puts a value where there was none. */
export function keepAt<T>(node: KnownNode, key: unknown, value: T): T {
  if (node.key === undefined) {
    node.key = key;
    node.value = value;
  } else {
    if (node.others === undefined || node.others.size >= maxOthers) node.others = new Map();
    node.others.set(key, value);
  }
  return value;
}

/** The value at a node, made when it is not there. */
export function valueAt<T>(node: KnownNode, key: unknown, make: () => T): T {
  const known = knownAt<T>(node, key);
  return known === unknownYet ? keepAt(node, key, make()) : known;
}
