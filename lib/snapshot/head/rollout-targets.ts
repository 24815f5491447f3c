/** The roots that HEAD rolls out to, and their mutations: functions from targets to targets. `createTransition` turns them into stages. */
import { NothingToDo, PortolanError } from "../../base/diagnostic.ts";
import type { Canary, Configuration, Head, Pin, Share } from "../root.ts";
import { lastRoot, newestConfiguration, newestRoot, pinAt, servedConfiguration } from "./head.ts";
import type { Configurations } from "./move-head.ts";

export interface RolloutTargets {
  /** Root for all nodes outside of the canary. */
  readonly everybody: string;
  /** Root of the newest publish. */
  readonly newest: string;
  readonly canary: Canary | undefined;
  /** Absent: what is published is served. */
  readonly pin: Pin | undefined;
  /** As HEAD has them before the mutation. */
  readonly configurations: Configurations;
}

/** Before the first publish. */
export const noTargets: RolloutTargets = {
  everybody: "",
  newest: "",
  canary: undefined,
  pin: undefined,
  configurations: { served: "", newest: "" },
};

/** The targets of a HEAD at a time, without an expired pin. */
export function rolloutTargetsOf(head: Head, nowMs: number): RolloutTargets {
  return {
    everybody: lastRoot(head.steps),
    newest: newestRoot(head),
    canary: head.canary,
    pin: pinAt(head, nowMs),
    configurations: { served: servedConfiguration(head), newest: newestConfiguration(head) },
  };
}

export function sameTargets(a: RolloutTargets, b: RolloutTargets): boolean {
  return (
    JSON.stringify([a.everybody, a.newest, a.canary, a.pin]) ===
    JSON.stringify([b.everybody, b.newest, b.canary, b.pin])
  );
}

/** Roots of one publish. */
export interface PublishedRoots {
  readonly newest: string;
  /** With the configuration that everybody is held at; absent: where everybody is held, the root stays. */
  readonly everybody?: string | undefined;
  /** With the configuration of the canary; absent: its root stays. */
  readonly canary?: string | undefined;
}

/** A publish: pinned nodes get a root with the pinned configuration, and the newest root is recorded. */
export function published(targets: RolloutTargets, roots: PublishedRoots): RolloutTargets {
  const { newest, everybody = targets.everybody } = roots;
  return {
    ...targets,
    newest,
    everybody: targets.pin === undefined ? newest : everybody,
    canary: followed(targets, roots),
  };
}

const followed = ({ canary }: RolloutTargets, { canary: root }: PublishedRoots): Canary | undefined =>
  canary === undefined || root === undefined ? canary : { ...canary, root };

/** A publish for a canary. All other nodes are pinned to what they have. */
export function triedOut(
  targets: RolloutTargets,
  roots: PublishedRoots,
  {
    share,
    configuration,
    pin,
  }: { readonly share: Share; readonly configuration: Configuration | undefined; readonly pin: Pin },
): RolloutTargets {
  const { newest, everybody = targets.everybody } = roots;
  // What is published for nobody takes no node from a canary that runs; of one that is for nobody it takes the place.
  const goesOn = isForNobody(share) && targets.canary !== undefined && !isForNobody(targets.canary);
  const tried = { root: newest, ...share, ...(configuration === undefined ? {} : { configuration }) };
  return { ...targets, newest, everybody, canary: goesOn ? followed(targets, roots) : tried, pin: targets.pin ?? pin };
}

const isForNobody = ({ percent, labels }: Share): boolean => percent === 0 && Object.keys(labels).length === 0;

/** A canary of an earlier root. The root may be the served one, so that a script need not check for a difference. */
export function withCanary(targets: RolloutTargets, canary: Canary): RolloutTargets {
  return { ...targets, canary };
}

/**
 * Aborts the canary. If the newest configuration differs from the served one, all nodes are pinned.
 *
 * @throws NothingToDo without a canary
 */
export function aborted(targets: RolloutTargets, pin: Pin): RolloutTargets {
  if (targets.canary === undefined) throw new NothingToDo("no canary runs: nothing to end");
  const { served, newest } = targets.configurations;
  return {
    ...targets,
    canary: undefined,
    pin: newest === served ? targets.pin : holding(pin, targets.pin?.configuration),
  };
}

/** Promotes the canary. If its configuration is not the newest, all nodes are pinned to it. */
export function promoted(targets: RolloutTargets, pin: Pin): RolloutTargets {
  const { root, configuration } = needCanary(targets);
  const isNewest = root === targets.newest || configuration?.version === targets.configurations.newest;
  if (isNewest) return { ...targets, everybody: targets.newest, canary: undefined, pin: undefined };
  return { ...targets, everybody: root, canary: undefined, pin: holding(pin, configuration) };
}

/** A pin of a configuration; without one, of the root. */
export const holding = (pin: Pin, configuration: Configuration | undefined): Pin =>
  configuration === undefined ? pin : { ...pin, configuration };

/** Pins all nodes to an earlier root and ends the canary. */
export function rolledBack(targets: RolloutTargets, root: string, pin: Pin): RolloutTargets {
  return { ...targets, everybody: root, canary: undefined, pin };
}

/**
 * Rolls out the newest publish, also if a pin has expired without a publish since.
 *
 * @throws NothingToDo without a pin; PortolanError while a canary runs: whose end is up to promote and abort
 */
export function unpinned(targets: RolloutTargets): RolloutTargets {
  if (targets.pin === undefined && targets.newest === targets.everybody)
    throw new NothingToDo("nothing is pinned: nothing to let go of; `portolan status` shows what is served");
  if (targets.canary !== undefined) throw new PortolanError("a canary is running: promote it or abort it first");
  return { ...targets, everybody: targets.newest, pin: undefined };
}

function needCanary({ canary }: RolloutTargets): Canary {
  if (canary === undefined)
    throw new PortolanError("there is no canary; `portolan push --canary` and `portolan canary` begin one");
  return canary;
}
