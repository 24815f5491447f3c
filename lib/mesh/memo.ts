/**
 * Remembers what was made from immutable objects, so that a compile after one change costs what the change touches.
 * Keys are object identities (every stage keeps the identity of what did not change) and a text that names the
 * derivation and any plain values that it depends on. Entries go with their objects.
 */
export type Memo = <T>(from: readonly object[], name: string, make: () => T) => T;

/** Most nodes are either a leaf or a step to one, so both parts are made when they are needed: weak maps cost the collector dearly. */
interface Node {
  values: Map<string, unknown> | undefined;
  next: WeakMap<object, Node> | undefined;
}

const createNode = (): Node => ({ values: undefined, next: undefined });

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
    node.values ??= new Map();
    if (node.values.has(name)) return node.values.get(name) as T;
    const value = make();
    node.values.set(name, value);
    return value;
  };
}

/** A memo that forgets everything at once: what a memoised result must equal. */
export const noMemo: Memo = (_from, _name, make) => make();
