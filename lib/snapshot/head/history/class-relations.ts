import type { CompiledClass, CompiledNode, CompiledWorld } from "../../compiled.ts";
import { memoizeEach } from "../../memoize/memoize-each.ts";
import { memoizePairs } from "../../memoize/memoize-pairs.ts";
import { classesByCluster } from "../../nodes/node-index.ts";

/** For classes of one world, the classes of the other in which their nodes are. */
export interface RelatedClasses {
  /** Usually the one of the same id. */
  of(id: string): readonly CompiledClass[];
  /** Whether it is that for every class, and both worlds have the same ones. */
  readonly areInPlace: boolean;
}

export type ClassRelations = (world: CompiledWorld, other: CompiledWorld) => RelatedClasses;

/** Remembers what it was asked, and which nodes are in both of two worlds: steps of one plan share them. */
export function createClassRelations(): ClassRelations {
  const movesOf = memoizePairs(nodeMoves);
  const byId = memoizeEach(classesById);
  return memoizePairs((world: CompiledWorld, other: CompiledWorld): RelatedClasses => {
    const movedTo = targetsOf([...movesOf(world.nodes, other.nodes), ...defaultMoves(world, other)]);
    const sameId = (id: string) => byId(other.classes).get(id) ?? noClasses;
    const areInPlace =
      movedTo.size === 0 &&
      world.classes.length === other.classes.length &&
      world.classes.every(({ id }, i) => id === other.classes[i]?.id);
    return { of: (id) => movedTo.get(id)?.flatMap(sameId) ?? sameId(id), areInPlace };
  });
}

const noClasses: readonly CompiledClass[] = [];

const classesById = (classes: CompiledWorld["classes"]): ReadonlyMap<string, readonly CompiledClass[]> =>
  new Map(classes.map((proxyClass) => [proxyClass.id, [proxyClass]]));

/** From a class of one world to a class of the other. */
type Move = readonly [from: string, to: string];

/** By the classes that nodes leave, these and those that they come to; sorted. */
function targetsOf(moves: readonly Move[]): ReadonlyMap<string, readonly string[]> {
  const movedTo = new Map<string, Set<string>>();
  for (const [from, to] of moves) {
    if (from !== to) movedTo.set(from, (movedTo.get(from) ?? new Set([from])).add(to));
  }
  return new Map([...movedTo].map(([from, to]) => [from, [...to].sort()]));
}

/** Other classes that nodes move to, each pair once. */
function nodeMoves(nodes: readonly CompiledNode[], others: readonly CompiledNode[]): readonly Move[] {
  if (nodes === others) return [];
  const clusters = classesByCluster(others);
  const moves = new Map<string, Move>();
  for (const { keys, classId, clusterId } of nodes) {
    for (const classOf of tablesFor(clusters, clusterId)) {
      for (const key of keys) {
        const there = classOf.get(key);
        if (there !== undefined && there !== classId) moves.set(`${classId} ${there}`, [classId, there]);
      }
    }
  }
  return [...moves.values()];
}

type Clusters = ReturnType<typeof classesByCluster>;

/** Of its cluster. Where one side does not say the cluster, as roots up to format 4, a node may be any of its name. */
function tablesFor(clusters: Clusters, clusterId: string | undefined): readonly ReadonlyMap<string, string>[] {
  if (clusterId === undefined) return [...clusters.values()];
  return [clusters.get(clusterId), clusters.get(undefined)].filter((table) => table !== undefined);
}

function defaultMoves(world: CompiledWorld, other: CompiledWorld): readonly Move[] {
  return Object.entries(world.classifier.defaults).flatMap(([key, id]): readonly Move[] => {
    const there = other.classifier.defaults[key];
    return there === undefined ? [] : [[id, there]];
  });
}
