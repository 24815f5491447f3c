import type { CompiledClass, CompiledNode, CompiledWorld } from "../compiled.ts";
import { rememberPairs } from "../remember-pairs.ts";

/** For each class of one world, the classes of the other in which its nodes are: usually the one of the same id. */
export type Relatives = (world: CompiledWorld, other: CompiledWorld) => ReadonlyMap<string, readonly CompiledClass[]>;

/** Remembers what it was asked, and which nodes are in both of two worlds: steps of one plan share them. */
export function createRelatives(): Relatives {
  const movesOf = rememberPairs(nodeMoves);
  return rememberPairs((world: CompiledWorld, other: CompiledWorld) =>
    classesOf(world, other, [...movesOf(world.nodes, other.nodes), ...defaultMoves(world, other)]),
  );
}

/** From a class of one world to a class of the other. */
type Move = readonly [from: string, to: string];

function classesOf(world: CompiledWorld, other: CompiledWorld, moves: readonly Move[]): ReturnType<Relatives> {
  const others = new Map(other.classes.map((proxyClass) => [proxyClass.id, proxyClass]));
  const movedTo = new Map<string, Set<string>>();
  for (const [from, to] of moves) {
    if (from !== to) movedTo.set(from, (movedTo.get(from) ?? new Set([from])).add(to));
  }
  return new Map(
    world.classes.map(({ id }) => {
      const ids = [...(movedTo.get(id) ?? [id])];
      return [id, ids.sort().flatMap((there) => others.get(there) ?? [])] as const;
    }),
  );
}

/** Classes between which nodes move, each pair once. */
function nodeMoves(nodes: readonly CompiledNode[], others: readonly CompiledNode[]): readonly Move[] {
  if (nodes === others) return [];
  const classOf = new Map(others.flatMap((node) => node.keys.map((key) => [key, node.classId] as const)));
  const moves = new Map<string, Move>();
  for (const { keys, classId } of nodes) {
    for (const key of keys) {
      const there = classOf.get(key);
      if (there !== undefined) moves.set(`${classId} ${there}`, [classId, there]);
    }
  }
  return [...moves.values()];
}

function defaultMoves(world: CompiledWorld, other: CompiledWorld): readonly Move[] {
  return Object.entries(world.classifier.defaults).flatMap(([key, id]): readonly Move[] => {
    const there = other.classifier.defaults[key];
    return there === undefined ? [] : [[id, there]];
  });
}
