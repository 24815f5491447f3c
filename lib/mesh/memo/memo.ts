/**
 * Remembers what was made from immutable objects, so that a compile after one change costs what the change touches.
 * Keys are object identities (every stage keeps the identity of what did not change) and a text that names the
 * derivation and any plain values that it depends on. Entries go with their objects.
 */
export type Memo = <T>(from: readonly object[], name: string, make: () => T) => T;

/**
 * What is remembered under a chain of objects, and the objects that follow. Most nodes have one value and one object after
 * them, so collections are made only when there is more: they cost the garbage collector far more than the values do, weak
 * ones most of all.
 */
interface Node {
  name: string | undefined;
  value: unknown;
  others: Map<string, unknown> | undefined;
  /** The one object that follows, as long as there is one. It is held, so it may outlive its owner until a second comes. */
  only: object | undefined;
  afterOnly: Node | undefined;
  /** Every object that follows, once there were two. */
  next: WeakMap<object, Node> | undefined;
}

const createNode = (): Node => ({
  name: undefined,
  value: undefined,
  others: undefined,
  only: undefined,
  afterOnly: undefined,
  next: undefined,
});

function follow(node: Node, object: object): Node {
  if (node.only === object && node.afterOnly !== undefined) return node.afterOnly;
  const known = node.next?.get(object);
  if (known !== undefined) return known;
  const made = createNode();
  if (node.next !== undefined) node.next.set(object, made);
  else if (node.only === undefined) {
    node.only = object;
    node.afterOnly = made;
  } else {
    node.next = new WeakMap([[object, made]]);
    if (node.afterOnly !== undefined) node.next.set(node.only, node.afterOnly);
    node.only = undefined;
    node.afterOnly = undefined;
  }
  return made;
}

/** A memo that lives as long as its owner: one per compiler process, or none across calls in a function. */
export function createMemo(): Memo {
  const root = createNode();
  // What comes first is many, and goes: never held.
  root.next = new WeakMap();
  return <T>(from: readonly object[], name: string, make: () => T): T => {
    let node = root;
    for (const object of from) node = follow(node, object);
    // Names hold the type of their value: whoever derives something chooses a name that nothing else has.
    if (node.name === name) return node.value as T;
    if (node.others?.has(name)) return node.others.get(name) as T;
    const value = make();
    if (node.name === undefined) {
      node.name = name;
      node.value = value;
    } else {
      node.others ??= new Map();
      node.others.set(name, value);
    }
    return value;
  };
}

/** A memo that forgets everything at once: what a memoised result must equal. */
export const noMemo: Memo = (_from, _name, make) => make();
