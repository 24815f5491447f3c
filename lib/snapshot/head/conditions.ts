/**
 * Who need not wait for a step's time: nodes that are known to have every cluster that its listeners and routes name, by the
 * version of the clusters that they said last.
 */
import { byCodePoint } from "../../base/diagnostic.ts";
import { type CompiledClass, type CompiledList, type CompiledWorld, resourcesIn } from "../compiled.ts";
import { conditionKey } from "../condition-key.ts";
import { shapes } from "../resource-type.ts";
import type { StageCondition } from "../root.ts";
import type { Questions } from "./list-questions.ts";
import type { Conditions, PlannedStage } from "./planned-stage.ts";

/** What a list of resources is called by those who have it. */
export type VersionOf = (list: CompiledList) => string;

/** A change, as far as it is planned. */
interface Change {
  readonly served: CompiledWorld;
  readonly pending: readonly PlannedStage[];
  /** What is served until the switch, and to those who have switched to what is pending. */
  readonly joined: readonly CompiledWorld[];
  /** What is served to those who have switched. */
  readonly ahead: CompiledWorld;
  readonly target: CompiledWorld;
}

/** Conditions of the switch to a target. A class that was not served before has nodes that start, and those fetch clusters first. */
export function conditionsFor(change: Change, questions: Questions, versionOf: VersionOf): Conditions {
  const { served, pending, joined, ahead, target } = change;
  const { classRelations, typesOfOtherNames, holds, isReady } = questions;
  if (pending.length === 0 && typesOfOtherNames(target, served, ["clusters"]).length === 0) return new Map();
  const before = classRelations(target, served);
  const planned = pending.map(({ world, conditions }) => ({ classes: classRelations(target, world), conditions }));
  const made = [...joined, ahead].map((world) => classRelations(target, world));
  const conditions = new Map<string, readonly string[]>();
  for (const proxyClass of target.classes) {
    const { id } = proxyClass;
    const earlier = before.of(id);
    if (earlier.length === 0) continue;
    for (const shape of shapes) {
      const wanted = proxyClass[shape].clusters;
      const listsOf = (classes: readonly CompiledClass[]) => classes.map((one) => one[shape].clusters);
      const had = listsOf(earlier);
      const later = planned.flatMap(({ classes }) => listsOf(classes.of(id)));
      const open = planned
        .flatMap((stage) => stage.classes.of(id).map((one) => stage.conditions?.get(conditionKey(shape, one.id))))
        .filter((versions) => versions !== undefined);
      if (open.length === 0 && [...had, ...later].every((list) => holds(list, wanted))) continue;
      const isSlow = open.some(({ length }) => length === 0) || had.some((list) => !isReady(wanted, list, shape));
      const lists = [...had, ...later, ...made.flatMap((classes) => listsOf(classes.of(id))), wanted];
      const enough = isSlow ? [] : lists.filter((list) => holds(list, wanted));
      conditions.set(conditionKey(shape, id), versionsOf(enough, versionOf));
    }
  }
  return conditions;
}

/**
 * The conditions of an earlier publish's switch once a later one adds clusters to what is served.
 *
 * @param first what is served until the switch; what it has not is named by nobody any more
 * @param others what else nodes may have by then
 */
export function carriedOn(
  { world, conditions }: PlannedStage,
  first: CompiledWorld,
  others: readonly CompiledWorld[],
  { classRelations, holds }: Questions,
  versionOf: VersionOf,
): Conditions | undefined {
  if (conditions === undefined) return undefined;
  const own = new Map(world.classes.map((proxyClass) => [proxyClass.id, proxyClass]));
  const before = classRelations(world, first);
  const after = others.map((other) => classRelations(world, other));
  return new Map(
    [...conditions].map(([key, versions]) => {
      const shape = shapes.find((one) => key.startsWith(`${one}/`)) ?? "poll";
      const id = key.slice(shape.length + 1);
      const listsOf = (classes: readonly CompiledClass[]) => classes.map((one) => one[shape].clusters);
      const there = listsOf(before.of(id));
      const list = own.get(id)?.[shape].clusters;
      // A list without versions is there to stay: everybody waits.
      if (versions.length === 0 || list === undefined) return [key, versions] as const;
      const wanted = there.every((one) => holds(one, list)) ? list : [namesOfBoth(list, there)];
      const enough = [...there, ...after.flatMap((classes) => listsOf(classes.of(id)))];
      const more = versionsOf(
        enough.filter((one) => holds(one, wanted)),
        versionOf,
      );
      return [key, sorted([...versions, ...more])] as const;
    }),
  );
}

function namesOfBoth(list: CompiledList, others: readonly CompiledList[]) {
  const kept = new Set(others.flatMap((other) => resourcesIn(other).map(({ name }) => name)));
  return resourcesIn(list).filter(({ name }) => kept.has(name));
}

/** As it is stored. */
export function stageConditionOf(conditions: Conditions): StageCondition {
  const lists = new Map<string, number>();
  const classes = [...conditions]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([key, versions]) => {
      const text = versions.join();
      const index = lists.get(text) ?? lists.size;
      lists.set(text, index);
      return [key, index] as const;
    });
  return {
    lists: [...lists.keys()].map((text) => ({ versions: text === "" ? [] : text.split(",") })),
    classes: Object.fromEntries(classes),
  };
}

/** As it was stored. */
export function conditionsOf({ lists, classes }: StageCondition): Conditions {
  return new Map(Object.entries(classes).map(([key, index]) => [key, lists[index]?.versions ?? []]));
}

/** Everybody waits: what stands for conditions that cannot be read. */
export const noCondition = ({ classes }: CompiledWorld): Conditions =>
  new Map(classes.flatMap(({ id }) => shapes.map((shape) => [conditionKey(shape, id), []] as const)));

const versionsOf = (lists: readonly CompiledList[], versionOf: VersionOf): readonly string[] =>
  sorted([...new Set(lists)].map(versionOf));

const sorted = (versions: readonly string[]): readonly string[] => [...new Set(versions)].sort(byCodePoint);
