/**
 * Remembers what was made from immutable objects, so that a compile after one change costs what the change touches.
 * Keys are object identities (every stage keeps the identity of what did not change) and a text that names the
 * derivation and any plain values that it depends on. Entries go with their objects.
 */
export type Memo = <T>(from: readonly object[], name: string, make: () => T) => T;

/** Most nodes are either a leaf or a step to one, so both parts are made when they are needed: weak maps cost the collector dearly. */
/**
 * What is remembered under a chain of objects, and the objects that follow. Most nodes have one value and nothing after it,
 * so collections are made only when there is more: they cost the garbage collector far more than the values do.
 */
interface Node {
  name: string | undefined;
  value: unknown;
  others: Map<string, unknown> | undefined;
  next: WeakMap<object, Node> | undefined;
}

const createNode = (): Node => ({ name: undefined, value: undefined, others: undefined, next: undefined });

/** A memo that lives as long as its owner: one per compiler process, or none across calls in a function. */
export function createMemo(): Memo {
  const root = createNode();
  return <T>(from: readonly object[], name: string, make: () => T): T => {
    let node = root;
    for (const object of from) {
      node.next ??= new WeakMap();
      let next = node.next.get(object);
      if (next === undefined) {
        next = createNode();
        node.next.set(object, next);
      }
      node = next;
    }
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
