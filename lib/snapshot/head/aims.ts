/** Where HEAD is to lead, and what each act makes of it. Every act is a function from aims to aims; `lead` turns them into steps. */
import { PortolanError } from "../../config/diagnostic.ts";
import type { Canary, Head, Pin, Share } from "../root.ts";
import { lastRoot, newestRoot, pinAt } from "./head.ts";

export interface Aims {
  /** Root that everybody is led to. */
  readonly everybody: string;
  /** Root of the newest publish. */
  readonly newest: string;
  readonly canary: Canary | undefined;
  /** Absent: what is published is served. */
  readonly pin: Pin | undefined;
}

/** Before the first publish. */
export const noAims: Aims = { everybody: "", newest: "", canary: undefined, pin: undefined };

/** The aims of a HEAD at a time: a pin whose time is over is none. */
export function aimsOf(head: Head, nowMs: number): Aims {
  return { everybody: lastRoot(head.steps), newest: newestRoot(head), canary: head.canary, pin: pinAt(head, nowMs) };
}

export function sameAims(a: Aims, b: Aims): boolean {
  return (
    JSON.stringify([a.everybody, a.newest, a.canary, a.pin]) ===
    JSON.stringify([b.everybody, b.newest, b.canary, b.pin])
  );
}

/** A publish: what is pinned stays, and the root is recorded as the newest. */
export function published(aims: Aims, root: string): Aims {
  return aims.pin === undefined ? { ...aims, everybody: root, newest: root } : { ...aims, newest: root };
}

/** A publish for a part of the nodes. The sources lead there now, so everybody else has to be held where he is. */
export function triedOut(aims: Aims, root: string, share: Share, pin: Pin): Aims {
  // What is published for nobody takes no node from a canary that runs; of one that is for nobody it takes the place.
  const goesOn = isForNobody(share) && aims.canary !== undefined && !isForNobody(aims.canary);
  return { ...aims, newest: root, canary: goesOn ? aims.canary : { root, ...share }, pin: aims.pin ?? pin };
}

const isForNobody = ({ percent, labels }: Share): boolean => percent === 0 && Object.keys(labels).length === 0;

/** A canary of a root that was published before; of that which everybody has, too: a script need not know whether something differs. */
export function withCanary(aims: Aims, canary: Canary): Aims {
  return { ...aims, canary };
}

/** The end of a canary for the worse. Where the sources go on leading to something else, everybody is held. */
export function aborted(aims: Aims, pin: Pin): Aims {
  needCanary(aims);
  return { ...aims, canary: undefined, pin: aims.newest === aims.everybody ? aims.pin : pin };
}

/** The end of a canary for the better. Where the sources lead to something else, everybody is held at its root. */
export function promoted(aims: Aims, pin: Pin): Aims {
  const { root } = needCanary(aims);
  return { ...aims, everybody: root, canary: undefined, pin: aims.newest === root ? undefined : pin };
}

/** Back to a root, to stay there. A canary ends with it. */
export function rolledBack(aims: Aims, root: string, pin: Pin): Aims {
  return { ...aims, everybody: root, canary: undefined, pin };
}

/**
 * On to what was published meanwhile, also when the time of a pin is over and nobody has published since.
 *
 * @throws PortolanError while a canary runs: whose end is up to promote and abort
 */
export function unpinned(aims: Aims): Aims {
  if (aims.pin === undefined && aims.newest === aims.everybody)
    throw new PortolanError("nothing is pinned; `portolan status` shows what is served");
  if (aims.canary !== undefined) throw new PortolanError("a canary is running: promote it or abort it first");
  return { ...aims, everybody: aims.newest, pin: undefined };
}

function needCanary({ canary }: Aims): Canary {
  if (canary === undefined)
    throw new PortolanError("there is no canary; `portolan push --canary` and `portolan canary` begin one");
  return canary;
}
