/**
 * Make before break, computed. Pollers fetch clusters, endpoints, listeners and routes at moments of their own, so a new
 * root is not served at once: first the new clusters join the old ones, then listeners and routes switch, and what nothing
 * names any more is dropped when every poller has had time.
 */
import {
  type CompiledClass,
  type CompiledList,
  type CompiledShape,
  type CompiledWorld,
  lengthOf,
  listIn,
} from "../compiled.ts";
import type { ResourceType, ShapeName } from "../resource-type.ts";
import type { WorldEncoder } from "../worlds/encode-world.ts";
import { carriedOn, conditionsFor } from "./conditions.ts";
import { createQuestions, type Questions } from "./list-questions.ts";
import type { PlannedStage } from "./planned-stage.ts";

/** How long pollers are given. */
export interface Pace {
  /** From the first stage to the switch: every poller has fetched its clusters meanwhile. */
  readonly settleMs: number;
  /** From the switch until what went is dropped. */
  readonly retentionMs: number;
}

/**
 * For polls that are at most twice the delay apart: twice that until the switch, and some more before anything goes. Fronts may learn of
 * HEAD a second late, and answers take their time.
 */
export const paceOf = (pollDelayMs: number): Pace => ({
  settleMs: 2_000 + 4 * pollDelayMs,
  retentionMs: 2_000 + 8 * pollDelayMs,
});

/** For polls as the generated bootstraps make them. */
export const defaultPace: Pace = paceOf(1_000);

/** For a front that holds polls, which learn of new clusters within one delay of two seconds at most. */
export const heldPace: Pace = { settleMs: 2_500, retentionMs: 5_000 };

/** Switches that nodes may be past already, each kept as a step until its time. Who is behind all of these waits for the time. */
const maxSwitches = 4;

/** Types whose resources may be added before anything refers to them. */
const added = ["clusters", "endpoints", "extension_configs"] as const;

/** Types whose resources stay for nodes that have not switched yet. */
const retained = ["clusters", "endpoints", "routes"] as const;

/**
 * The stages from what is served to a new world.
 *
 * @param served what is in force now
 * @param pending the later stages that an earlier publish has planned, in order of time
 * @param encoder knows the version of a class's list of resources, as nodes will say that they have it
 * @returns at least one stage, the first of them now, times never falling, the last one `target` itself
 */
export function planStages(
  served: CompiledWorld,
  pending: readonly PlannedStage[],
  target: CompiledWorld,
  nowMs: number,
  pace: Pace,
  encoder: Pick<WorldEncoder, "versionOf" | "columns">,
): readonly PlannedStage[] {
  const { versionOf, columns } = encoder;
  const questions = createQuestions(columns);
  const first = joined(served, target, questions);
  const planned = pending.at(-1)?.world ?? served;
  // Everything that anybody may have by now stays; what is due to go by then goes at the switch's time.
  const ahead = retaining(planned, retaining(first, target, retained, questions), ["routes"], questions);
  const between = pending.map((stage) => ({ stage, world: joined(stage.world, target, questions) }));
  const made = [first, ...between.map(({ world }) => world)];
  const conditions = conditionsFor({ served, pending, joined: made, ahead, target }, questions, versionOf);
  const lastSwitch = pending.findLast(
    (stage, i) =>
      stage.conditions !== undefined || bringsTraffic(pending[i - 1]?.world ?? served, stage.world, questions),
  );
  // Clusters that are new to the pollers need time; so do those that an earlier publish has added but not yet switched to,
  // and those that it was about to drop: a poller may not have had them yet, or no longer.
  const settledMs = conditions.size === 0 ? nowMs : roundUp(nowMs + pace.settleMs, pace.settleMs / 2);
  const switchMs = Math.max(settledMs, lastSwitch?.atMs ?? nowMs);
  const before = pending.findLast(({ atMs }) => atMs <= switchMs)?.world ?? served;
  const switched = pending.length === 0 ? ahead : retaining(before, target, retained, questions);
  const dropMs = switched === target ? switchMs : roundUp(switchMs + pace.retentionMs, pace.retentionMs / 2);
  const forgotten = new Set(pending.filter((stage) => stage.conditions !== undefined).slice(0, -maxSwitches));

  const steps: readonly PlannedStage[] = [
    { world: first, atMs: nowMs },
    ...between
      .filter(({ stage }) => !forgotten.has(stage) && (stage.atMs < switchMs || stage.conditions !== undefined))
      .map(({ stage, world }) => ({
        world,
        atMs: stage.atMs,
        conditions: carriedOn(stage, first, [...made.slice(1), ahead, target], questions, versionOf),
      })),
    ...(switchMs > nowMs ? [{ world: ahead, atMs: switchMs, conditions }] : []),
    { world: switched, atMs: switchMs },
    ...pending
      .filter(({ atMs }) => atMs > switchMs && atMs < dropMs)
      .map(({ world, atMs }) => ({ world: retaining(world, target, retained, questions), atMs })),
    { world: target, atMs: dropMs },
  ];
  return steps.filter((stage, i) => isWorthwhile(stage, steps[i - 1], steps[i + 1])).filter(isNews);
}

/** Whether a stage is ever served: for some time, or early to nodes that meet its condition. */
function isWorthwhile(stage: PlannedStage, before: PlannedStage | undefined, next: PlannedStage | undefined): boolean {
  if (next === undefined || stage.conditions !== undefined) return true;
  return next.atMs > stage.atMs && stage.world !== before?.world;
}

const isNews = ({ world, atMs }: PlannedStage, i: number, steps: readonly PlannedStage[]): boolean =>
  world !== steps[i - 1]?.world || atMs !== steps[i - 1]?.atMs;

/** Switches and drops fall on few moments, so that publishes in quick succession do not each add a stage. */
const roundUp = (ms: number, grid: number): number => (grid <= 0 ? ms : Math.ceil(ms / grid) * grid);

/** The served world with the clusters and endpoints of the target added; the served world itself when that adds no name. */
function joined(served: CompiledWorld, target: CompiledWorld, questions: Questions): CompiledWorld {
  const { unite, classRelations, typesOfOtherNames } = questions;
  const types = typesOfOtherNames(served, target, added);
  if (types.length === 0) return served;
  const successors = classRelations(served, target);
  return withClasses(served, (proxyClass) => {
    const next = successors.of(proxyClass.id);
    return mapTypes(proxyClass, types, (old, shape, type) => {
      const [newest = old, ...rest] = next.map((other) => listIn(other[shape], type));
      const all = unite(newest, [...rest, old]);
      // Content of names on both sides moves on with the first step, but only a new name is a reason to have one.
      return lengthOf(all) === lengthOf(old) ? old : all;
    });
  });
}

/** The target with what its classes had before of some types kept; the target itself if nothing of them went. */
function retaining(
  before: CompiledWorld,
  target: CompiledWorld,
  kept: readonly ResourceType[],
  { unite, classRelations, typesOfOtherNames }: Questions,
): CompiledWorld {
  const types = typesOfOtherNames(target, before, kept);
  if (types.length === 0) return target;
  const predecessors = classRelations(target, before);
  return withClasses(target, (proxyClass) => {
    const earlier = predecessors.of(proxyClass.id);
    return mapTypes(proxyClass, types, (now, shape, type) =>
      unite(
        now,
        earlier.map((other) => listIn(other[shape], type)),
      ),
    );
  });
}

/** Whether a step lets any class ask for a listener or a route table that it did not have, or had with other content. */
function bringsTraffic(before: CompiledWorld, after: CompiledWorld, { bringsClassTraffic }: Questions): boolean {
  const earlier = new Map(before.classes.map((proxyClass) => [proxyClass.id, proxyClass]));
  return after.classes.some((proxyClass) => bringsClassTraffic(earlier.get(proxyClass.id), proxyClass));
}

/** Replaces classes; the world itself when each stays the same object. Equal classes in, equal lists out, shared. */
function withClasses(world: CompiledWorld, change: (proxyClass: CompiledClass) => CompiledClass): CompiledWorld {
  const classes = world.classes.map(change);
  if (classes.every((proxyClass, i) => proxyClass === world.classes[i])) return world;
  // What stands between two worlds is made as neither of them is.
  const { made: _made, table: _table, ...rest } = world;
  return { ...rest, classes };
}

/** Replaces lists of a class; the class itself when each stays the same list. */
function mapTypes(
  proxyClass: CompiledClass,
  types: readonly ResourceType[],
  change: (list: CompiledList, shape: ShapeName, type: ResourceType) => CompiledList,
): CompiledClass {
  const mapShape = (shape: ShapeName): CompiledShape => {
    const lists = proxyClass[shape];
    let changed = lists;
    for (const type of types) {
      const list = listIn(lists, type);
      const next = change(list, shape, type);
      if (next !== list) changed = { ...changed, [type]: next };
    }
    return changed;
  };
  const stream = mapShape("stream");
  const poll = mapShape("poll");
  return stream === proxyClass.stream && poll === proxyClass.poll ? proxyClass : { ...proxyClass, stream, poll };
}
