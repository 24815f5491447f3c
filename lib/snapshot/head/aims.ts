/** Where HEAD is to lead, and what each act makes of it. Every act is a function from aims to aims; `lead` turns them into steps. */
import { NothingToDo, PortolanError } from "../../base/diagnostic.ts";
import type { Canary, Configuration, Head, Pin, Share } from "../root.ts";
import { lastRoot, newestConfiguration, newestRoot, pinAt, servedConfiguration } from "./head.ts";
import type { Configurations } from "./move-head.ts";

export interface Aims {
  /** Root that everybody is led to. */
  readonly everybody: string;
  /** Root of the newest publish. */
  readonly newest: string;
  readonly canary: Canary | undefined;
  /** Absent: what is published is served. */
  readonly pin: Pin | undefined;
  /** As HEAD has them before the act. */
  readonly configurations: Configurations;
}

/** Before the first publish. */
export const noAims: Aims = {
  everybody: "",
  newest: "",
  canary: undefined,
  pin: undefined,
  configurations: { served: "", newest: "" },
};

/** The aims of a HEAD at a time: a pin whose time is over is none. */
export function aimsOf(head: Head, nowMs: number): Aims {
  return {
    everybody: lastRoot(head.steps),
    newest: newestRoot(head),
    canary: head.canary,
    pin: pinAt(head, nowMs),
    configurations: { served: servedConfiguration(head), newest: newestConfiguration(head) },
  };
}

export function sameAims(a: Aims, b: Aims): boolean {
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

/** A publish: whose configuration is held gets a root of that, and the newest is recorded. */
export function published(aims: Aims, roots: PublishedRoots): Aims {
  const { newest, everybody = aims.everybody } = roots;
  return { ...aims, newest, everybody: aims.pin === undefined ? newest : everybody, canary: followed(aims, roots) };
}

const followed = ({ canary }: Aims, { canary: root }: PublishedRoots): Canary | undefined =>
  canary === undefined || root === undefined ? canary : { ...canary, root };

/** A publish for a part of the nodes. The sources lead there now, so everybody else has to be held where he is. */
export function triedOut(
  aims: Aims,
  roots: PublishedRoots,
  {
    share,
    configuration,
    pin,
  }: { readonly share: Share; readonly configuration: Configuration | undefined; readonly pin: Pin },
): Aims {
  const { newest, everybody = aims.everybody } = roots;
  // What is published for nobody takes no node from a canary that runs; of one that is for nobody it takes the place.
  const goesOn = isForNobody(share) && aims.canary !== undefined && !isForNobody(aims.canary);
  const tried = { root: newest, ...share, ...(configuration === undefined ? {} : { configuration }) };
  return { ...aims, newest, everybody, canary: goesOn ? followed(aims, roots) : tried, pin: aims.pin ?? pin };
}

const isForNobody = ({ percent, labels }: Share): boolean => percent === 0 && Object.keys(labels).length === 0;

/** A canary of a root that was published before; of that which everybody has, too: a script need not know whether something differs. */
export function withCanary(aims: Aims, canary: Canary): Aims {
  return { ...aims, canary };
}

/**
 * The end of a canary for the worse. Where the sources go on leading to something else, everybody is held.
 *
 * @throws NothingToDo without a canary
 */
export function aborted(aims: Aims, pin: Pin): Aims {
  if (aims.canary === undefined) throw new NothingToDo("no canary runs: nothing to end");
  const { served, newest } = aims.configurations;
  return { ...aims, canary: undefined, pin: newest === served ? aims.pin : holding(pin, aims.pin?.configuration) };
}

/** The end of a canary for the better. Where the sources lead to something else, everybody is held at its configuration. */
export function promoted(aims: Aims, pin: Pin): Aims {
  const { root, configuration } = needCanary(aims);
  const isNewest = root === aims.newest || configuration?.version === aims.configurations.newest;
  if (isNewest) return { ...aims, everybody: aims.newest, canary: undefined, pin: undefined };
  return { ...aims, everybody: root, canary: undefined, pin: holding(pin, configuration) };
}

/** A pin of a configuration; without one, of the very root. */
export const holding = (pin: Pin, configuration: Configuration | undefined): Pin =>
  configuration === undefined ? pin : { ...pin, configuration };

/** Back to a root, to stay there. A canary ends with it. */
export function rolledBack(aims: Aims, root: string, pin: Pin): Aims {
  return { ...aims, everybody: root, canary: undefined, pin };
}

/**
 * On to what was published meanwhile, also when the time of a pin is over and nobody has published since.
 *
 * @throws NothingToDo without a pin; PortolanError while a canary runs: whose end is up to promote and abort
 */
export function unpinned(aims: Aims): Aims {
  if (aims.pin === undefined && aims.newest === aims.everybody)
    throw new NothingToDo("nothing is pinned: nothing to let go of; `portolan status` shows what is served");
  if (aims.canary !== undefined) throw new PortolanError("a canary is running: promote it or abort it first");
  return { ...aims, everybody: aims.newest, pin: undefined };
}

function needCanary({ canary }: Aims): Canary {
  if (canary === undefined)
    throw new PortolanError("there is no canary; `portolan push --canary` and `portolan canary` begin one");
  return canary;
}
