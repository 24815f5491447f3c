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
  resourcesIn,
} from "../compiled.ts";
import { type ResourceType, resourceTypes, type ShapeName, shapes } from "../resource-type.ts";
import { partsApart, rememberApart } from "../worlds/parts-apart.ts";
import { createUnion, type Union } from "../worlds/unite-lists.ts";

/** How long pollers are given. */
export interface Pace {
  /** From the first step to the switch: every poller has fetched its clusters meanwhile. */
  readonly settleMs: number;
  /** From the switch until what went is dropped. */
  readonly retentionMs: number;
}

/**
 * For polls as the generated bootstraps make them, at most two seconds apart: three times that until the switch, and some more
 * before anything goes.
 */
export const defaultPace: Pace = { settleMs: 6_000, retentionMs: 10_000 };

/** For a front that holds polls, which learn of new clusters within one delay of two seconds at most. */
export const heldPace: Pace = { settleMs: 2_500, retentionMs: 5_000 };

/** A world to serve, from a time on. */
export interface PlannedStep {
  readonly world: CompiledWorld;
  readonly atMs: number;
}

/**
 * The steps from what is served to a new world.
 *
 * @param served what is in force now
 * @param pending the later steps that an earlier publish has planned, in order of time
 * @returns at least one step, the first of them now, times growing, the last one `target` itself
 */
export function planSteps(
  served: CompiledWorld,
  pending: readonly PlannedStep[],
  target: CompiledWorld,
  nowMs: number,
  pace: Pace,
): readonly PlannedStep[] {
  const questions = { unite: createUnion(), bringsClassTraffic: createTrafficQuestion() };
  const first = joined(served, target, questions);
  const lastSwitch = pending.findLast(({ world }, i) =>
    bringsTraffic(pending[i - 1]?.world ?? served, world, questions),
  );
  // Clusters that are new to the pollers need time; so do those that an earlier publish has added but not yet switched to,
  // and those that it was about to drop: a poller may not have had them yet, or no longer.
  const planned = pending.at(-1)?.world ?? served;
  const isSettled = first === served && joined(planned, target, questions) === planned;
  const settledMs = isSettled ? nowMs : roundUp(nowMs + pace.settleMs, pace.settleMs / 2);
  const switchMs = Math.max(settledMs, lastSwitch?.atMs ?? nowMs);
  const before = pending.findLast(({ atMs }) => atMs <= switchMs)?.world ?? served;
  const switched = retaining(before, target, questions);
  const dropMs = switched === target ? switchMs : roundUp(switchMs + pace.retentionMs, pace.retentionMs / 2);

  const steps = [
    { world: first, atMs: nowMs },
    ...pending
      .filter(({ atMs }) => atMs < switchMs)
      .map(({ world, atMs }) => ({ world: joined(world, target, questions), atMs })),
    { world: switched, atMs: switchMs },
    ...pending
      .filter(({ atMs }) => atMs > switchMs && atMs < dropMs)
      .map(({ world, atMs }) => ({ world: retaining(world, target, questions), atMs })),
    { world: target, atMs: dropMs },
  ];
  return steps.filter((step, i) => {
    const next = steps[i + 1];
    return next === undefined || (next.atMs > step.atMs && step.world !== steps[i - 1]?.world);
  });
}

/** What is asked of lists, again and again while steps are planned; answers are remembered by the parts of the lists. */
interface Questions {
  readonly unite: Union;
  readonly bringsClassTraffic: ClassQuestion;
}

/** Switches and drops fall on few moments, so that publishes in quick succession do not each add a step. */
const roundUp = (ms: number, grid: number): number => (grid <= 0 ? ms : Math.ceil(ms / grid) * grid);

/**
 * The served world with the clusters and endpoints of the target added, for every class whose listeners or routes will
 * change; the served world itself when that adds no name.
 */
function joined(served: CompiledWorld, target: CompiledWorld, { unite, bringsClassTraffic }: Questions): CompiledWorld {
  const successors = relatives(served, target);
  return withClasses(served, (proxyClass) => {
    const next = successors.get(proxyClass.id) ?? [];
    if (!next.some((other) => bringsClassTraffic(proxyClass, other))) return proxyClass;
    return mapTypes(proxyClass, ["clusters", "endpoints"], (old, shape, type) => {
      const [newest = old, ...rest] = next.map((other) => other[shape][type]);
      const all = unite(newest, [...rest, old]);
      // Content of names on both sides moves on with the first step, but only a new name is a reason to have one.
      return lengthOf(all) === lengthOf(old) ? old : all;
    });
  });
}

/** The target with the clusters, endpoints and route tables kept that its classes had before; the target itself if none went. */
function retaining(before: CompiledWorld, target: CompiledWorld, { unite }: Questions): CompiledWorld {
  const predecessors = relatives(target, before);
  return withClasses(target, (proxyClass) => {
    const earlier = predecessors.get(proxyClass.id) ?? [];
    return mapTypes(proxyClass, ["clusters", "endpoints", "routes"], (now, shape, type) =>
      unite(
        now,
        earlier.map((other) => other[shape][type]),
      ),
    );
  });
}

/** For each class of one world, the classes of the other in which its nodes are: usually the one of the same id. */
function relatives(world: CompiledWorld, other: CompiledWorld): ReadonlyMap<string, readonly CompiledClass[]> {
  const others = new Map(other.classes.map((proxyClass) => [proxyClass.id, proxyClass]));
  const ids = new Map<string, Set<string>>();
  const relate = (from: string, to: string) => {
    const set = ids.get(from) ?? new Set();
    ids.set(from, set.add(to));
  };
  for (const { id } of world.classes) relate(id, id);
  if (world.nodes !== other.nodes) {
    const classOf = new Map(other.nodes.flatMap((node) => node.keys.map((key) => [key, node.classId] as const)));
    for (const node of world.nodes) {
      for (const key of node.keys) {
        const there = classOf.get(key);
        if (there !== undefined) relate(node.classId, there);
      }
    }
    for (const [key, id] of Object.entries(world.classifier.defaults)) {
      const there = other.classifier.defaults[key];
      if (there !== undefined) relate(id, there);
    }
  }
  return new Map(
    [...ids].map(([id, set]) => [id, [...set].sort().flatMap((there) => others.get(there) ?? [])] as const),
  );
}

/** Whether a step lets any class ask for a listener or a route table that it did not have, or had with other content. */
function bringsTraffic(before: CompiledWorld, after: CompiledWorld, { bringsClassTraffic }: Questions): boolean {
  const earlier = new Map(before.classes.map((proxyClass) => [proxyClass.id, proxyClass]));
  return after.classes.some((proxyClass) => bringsClassTraffic(earlier.get(proxyClass.id), proxyClass));
}

type ClassQuestion = (before: CompiledClass | undefined, after: CompiledClass) => boolean;

function createTrafficQuestion(): ClassQuestion {
  const bringsContent = rememberApart(({ before, after }): boolean => {
    const versions = new Map(resourcesIn(before).map(({ name, version }) => [name, version]));
    return resourcesIn(after).some(({ name, version }) => versions.get(name) !== version);
  });
  const brings = (before: CompiledList, after: CompiledList) => partsApart(before, after).some(bringsContent);
  return (before, after) =>
    shapes.some(
      (shape) =>
        brings(before?.[shape].listeners ?? [], after[shape].listeners) ||
        brings(before?.[shape].routes ?? [], after[shape].routes),
    );
}

/** Replaces classes; the world itself when each stays the same object. Equal classes in, equal lists out, shared. */
function withClasses(world: CompiledWorld, change: (proxyClass: CompiledClass) => CompiledClass): CompiledWorld {
  const classes = world.classes.map(change);
  return classes.every((proxyClass, i) => proxyClass === world.classes[i]) ? world : { ...world, classes };
}

/** Replaces lists of a class; the class itself when each stays the same list. */
function mapTypes(
  proxyClass: CompiledClass,
  types: readonly ResourceType[],
  change: (list: CompiledList, shape: ShapeName, type: ResourceType) => CompiledList,
): CompiledClass {
  const mapShape = (shape: ShapeName): CompiledShape => {
    const lists = proxyClass[shape];
    const changed = { ...lists };
    for (const type of types) changed[type] = change(lists[type], shape, type);
    return resourceTypes.every((type) => changed[type] === lists[type]) ? lists : changed;
  };
  const stream = mapShape("stream");
  const poll = mapShape("poll");
  return stream === proxyClass.stream && poll === proxyClass.poll ? proxyClass : { ...proxyClass, stream, poll };
}
