import type { CompiledClass, CompiledWorld } from "../compiled.ts";

/** For each class of one world, the classes of the other in which its nodes are: usually the one of the same id. */
export type Relatives = (world: CompiledWorld, other: CompiledWorld) => ReadonlyMap<string, readonly CompiledClass[]>;

type Related = ReadonlyMap<string, readonly string[]>;

/** Remembers what it was asked, and which nodes are in both of two worlds: steps of one plan share them. */
export function createRelatives(): Relatives {
  const results = new WeakMap<CompiledWorld, WeakMap<CompiledWorld, ReturnType<Relatives>>>();
  const related = new WeakMap<object, WeakMap<object, Related>>();
  const relatedBy = (world: CompiledWorld, other: CompiledWorld): Related => {
    const known = related.get(world.nodes) ?? new WeakMap<object, Related>();
    related.set(world.nodes, known);
    const result = known.get(other.nodes) ?? relate(world, other);
    known.set(other.nodes, result);
    return result;
  };
  return (world, other) => {
    const known = results.get(world) ?? new WeakMap<CompiledWorld, ReturnType<Relatives>>();
    results.set(world, known);
    const result = known.get(other) ?? classesOf(world, other, relatedBy(world, other));
    known.set(other, result);
    return result;
  };
}

function classesOf(world: CompiledWorld, other: CompiledWorld, related: Related): ReturnType<Relatives> {
  const others = new Map(other.classes.map((proxyClass) => [proxyClass.id, proxyClass]));
  return new Map(
    world.classes.map(({ id }) => {
      const ids = [...new Set([id, ...(related.get(id) ?? [])])].sort();
      return [id, ids.flatMap((there) => others.get(there) ?? [])] as const;
    }),
  );
}

function relate(world: CompiledWorld, other: CompiledWorld): Related {
  if (world.nodes === other.nodes) return new Map();
  const ids = new Map<string, Set<string>>();
  const add = (from: string, to: string) => {
    const set = ids.get(from) ?? new Set();
    ids.set(from, set.add(to));
  };
  const classOf = new Map(other.nodes.flatMap((node) => node.keys.map((key) => [key, node.classId] as const)));
  for (const node of world.nodes) {
    for (const key of node.keys) {
      const there = classOf.get(key);
      if (there !== undefined) add(node.classId, there);
    }
  }
  for (const [key, id] of Object.entries(world.classifier.defaults)) {
    const there = other.classifier.defaults[key];
    if (there !== undefined) add(id, there);
  }
  return new Map([...ids].map(([id, set]) => [id, [...set]]));
}
