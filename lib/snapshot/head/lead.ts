import { type Blob, blobKey, jsonBlob } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { CompiledWorld } from "../compiled.ts";
import type { Canary, Cohort, Head, Share, Step } from "../root.ts";
import { createBlobCheck } from "../upkeep/blob-check.ts";
import type { WorldEncoder } from "../worlds/encode-world.ts";
import { type OpenWorlds, openWorlds } from "../worlds/open-worlds.ts";
import type { RestoredWorld } from "../worlds/restore-world.ts";
import { mendBlobs, type Written, writeBlobs } from "../write-blobs.ts";
import { type Aims, aimsOf, noAims, sameAims } from "./aims.ts";
import { onClock, storeClock } from "./clock.ts";
import { maxCohorts, regroup } from "./cohorts.ts";
import { conditionsOf, gateOf, noCondition } from "./conditions.ts";
import { readGate } from "./gates.ts";
import { lastRoot, type ReadHead, rootsOfHead, stepsFrom } from "./head.ts";
import { refuseLostHead } from "./lost-head.ts";
import { type Configurations, type HeadChange, makeMove, planMove, writeEntry } from "./move-head.ts";
import type { PlannedStep } from "./planned-step.ts";
import type { Trust } from "./signatures.ts";
import { defaultPace, type Pace, planSteps } from "./steps.ts";

export interface LeadOptions extends Trust {
  readonly pace?: Pace;
  readonly now?: () => number;
}

/** What the history is to say of a move. */
export type Note = Pick<HeadChange, "reason" | "by" | "why" | "back">;

/** Where HEAD is to lead, from where it leads now. */
export type Act = (aims: Aims, at: ActingAt) => Aims;

export interface ActingAt {
  readonly nowMs: number;
  /** Root of the world that was handed in with the act, if one was. */
  readonly compiled?: string;
  /** Root of another world, which is written with what the act leads to. */
  rootOf(world: CompiledWorld): string;
}

export type Led =
  | {
      readonly kind: "led";
      readonly head: Head;
      readonly aims: Aims;
      readonly written: Written;
      /** Roots on the way that could not be read: nodes went from them without steps. */
      readonly unread: readonly string[];
    }
  /** HEAD says all of it already; what it leads to was mended where it had to be. */
  | { readonly kind: "as-is"; readonly head: Head; readonly aims: Aims; readonly written: Written }
  /** Somebody else moved HEAD since `base` was read. */
  | { readonly kind: "lost" };

/**
 * Moves HEAD from act to act: in steps for everybody whose root changes, blobs first, then roots, then HEAD, so that a reader
 * sees all of it or nothing.
 *
 * @param compiled a world whose root the aims may name although the store does not have it yet
 * @throws PortolanError when the act cannot be done, or a root that it needs is not in the store
 */
export type Leader = (
  base: ReadHead | undefined,
  act: Act,
  note: Note,
  compiled?: CompiledWorld,
  beside?: Beside,
) => Promise<Led>;

/** What goes on beside a move of HEAD, so that it waits for the store no longer than it must. */
export interface Beside {
  /** Blobs of what was compiled that the store has, or is about to have, and that are what their names say; absent: none. */
  readonly laid?: ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** Asked when content is in place; HEAD stays where it is if this rejects. */
  readonly mayMove?: () => Promise<void>;
  /** Called when HEAD has moved, while its copy is kept. */
  readonly moved?: () => Promise<void>;
}

const nothing = async () => {};

/** A leader keeps in memory the worlds that HEAD named last: the next move compares with them. */
export function createLeader(store: ObjectStore, encoder: WorldEncoder, options: LeadOptions = {}): Leader {
  const now = options.now ?? Date.now;
  const pace = options.pace ?? defaultPace;
  const check = createBlobCheck(store);
  let remembered: ReadonlyMap<string, RestoredWorld> = new Map();

  return async (base, act, note, compiled, beside = {}) => {
    const { mayMove = nothing, moved = nothing } = beside;
    if (base === undefined) await refuseLostHead(store);
    const clock = await storeClock(store, now);
    const nowMs = clock();
    const head = base === undefined ? undefined : onClock(base, nowMs, pace);
    const before = base === undefined ? noAims : aimsOf(base.head, nowMs);
    const worlds = openWorlds(store, encoder, remembered, compiled);
    const { rootOf } = worlds;
    const aims = act(before, { nowMs, rootOf, ...(compiled === undefined ? {} : { compiled: rootOf(compiled) }) });
    const laid = (await beside.laid) ?? new Set<string>();
    check.written(laid);
    if (base !== undefined && base.head.pin === before.pin && sameAims(before, aims)) {
      const [{ objects, bytes }] = await Promise.all([mendBlobs(store, check, [...worlds.made.values()]), mayMove()]);
      return { kind: "as-is", head: base.head, aims, written: { objects, bytes, mended: objects } };
    }
    const unread = new Set<string>();
    const gates = new Map<string, Blob>();
    const planning = { store, worlds, encoder, nowMs, pace, unread, gates };
    const stepsTo = (root: string, from: readonly Step[]) => plannedSteps(planning, stepsFrom(from, nowMs), root);
    const steps = await stepsTo(aims.everybody, head?.steps ?? []);
    const cohorts: Cohort[] = [];
    for (const { shares, leaving, from } of head === undefined ? [] : regroup(head, shareOf(aims.canary), nowMs)) {
      const goal = leaving || aims.canary === undefined ? aims.everybody : aims.canary.root;
      const own = await stepsTo(goal, from ?? head?.steps ?? []);
      cohorts.push({ shares, steps: own, ...(leaving ? { leaving } : {}) });
    }
    if (cohorts.length > maxCohorts) {
      throw new PortolanError("the canary was changed too often at a time, and its nodes are still on their way");
    }

    // What HEAD names cannot be collected while HEAD is what it was; everything else that is relied on might be.
    const named = new Set(base === undefined ? [] : rootsOfHead(base.head));
    const stored = [...worlds.stored].map(([root, { blobs }]) => ({ blobs, isNamed: named.has(root) }));
    const { canary, pin, newest } = aims;
    const configurations = {
      served: await configurationOf(worlds, aims.everybody, [before.everybody, before.configurations.served]),
      newest: await configurationOf(worlds, newest, [before.newest, before.configurations.newest]),
    };
    const change = {
      steps,
      cohorts,
      canary,
      pin,
      newest,
      ...note,
      configurations,
      ...entryOf(before, aims, configurations),
    };
    const plan = async () => {
      const atMs = performance.now();
      return { atMs, move: await planMove(base, change, clock(), options.signer) };
    };
    let planned: Awaited<ReturnType<typeof plan>> | undefined;
    const inPlace = {
      there: stored.filter(({ isNamed }) => isNamed).map(({ blobs }) => blobs),
      found: stored.filter(({ isNamed }) => !isNamed).map(({ blobs }) => blobs),
      laid,
    };
    const written = await writeBlobs(store, check, [...worlds.made.values()], inPlace, async () => {
      planned = await plan();
      // A gate that is collected meanwhile makes its step wait for the time.
      const putGate = ({ hash, bytes }: Blob) => store.put(blobKey(hash), bytes, { ifNoneMatch: "*" });
      await Promise.all([mayMove(), writeEntry(store, planned.move), ...Array.from(gates.values(), putGate)]);
    });
    // Whoever waited for a collection to end says when HEAD came into force, and not when it might have.
    if (planned === undefined || performance.now() - planned.atMs > soonMs) {
      planned = await plan();
      await writeEntry(store, planned.move);
    }
    const { move } = planned;
    const entryBytes = await makeMove(store, base, move, moved);
    if (entryBytes === undefined) {
      // Whoever tries again at once has read them already.
      remembered = worlds.stored;
      return { kind: "lost" };
    }

    remembered = new Map(
      rootsOfHead(move.head).flatMap((root) => {
        const restored = worlds.restored(root);
        return restored === undefined ? [] : [[root, restored] as const];
      }),
    );
    return {
      kind: "led",
      head: move.head,
      aims,
      written: {
        ...written,
        objects: written.objects + 2 + gates.size,
        bytes: [...gates.values()].reduce((sum, { bytes }) => sum + bytes.length, written.bytes + entryBytes),
      },
      unread: [...unread],
    };
  };
}

/** Whom a canary is for, without what they get. */
const shareOf = (canary: Canary | undefined): Share | undefined =>
  canary && { percent: canary.percent, labels: canary.labels };

/** Between the time that HEAD says and its being written; what clocks agree in is longer. */
const soonMs = 1_000;

/** What a move of HEAD is planned with. */
interface Planning {
  readonly store: ObjectStore;
  readonly worlds: OpenWorlds;
  readonly encoder: WorldEncoder;
  readonly nowMs: number;
  readonly pace: Pace;
  /** Roots on the way that cannot be read. */
  readonly unread: Set<string>;
  /** Gates of the steps that are planned, by hash. */
  readonly gates: Map<string, Blob>;
}

/** The steps from those that nodes are on to a root; those themselves where they lead there. */
async function plannedSteps(
  { store, worlds, encoder, nowMs, pace, unread, gates }: Planning,
  current: readonly Step[],
  root: string,
): Promise<readonly Step[]> {
  if (lastRoot(current) === root) return current;
  const target = await worldToLeadTo(worlds, root);
  const way: PlannedStep[] = [];
  for (const step of current) {
    const lackingBefore = worlds.lacking.size;
    try {
      const world = await worlds.get(step.root);
      const atMs = Date.parse(step.at);
      if (step.gate === undefined) way.push({ world, atMs });
      else {
        const gate = await readGate(store, step.gate);
        way.push({ world, atMs, conditions: gate === undefined ? noCondition(world) : conditionsOf(gate) });
      }
    } catch (cause) {
      // What cannot be read is not served: better no steps than no way out of it. A store that fails is another matter.
      if (worlds.lacking.size === lackingBefore) throw cause;
      unread.add(step.root);
    }
  }
  const [served, ...pending] = way;
  const plan =
    served === undefined
      ? [{ world: target, atMs: nowMs }]
      : planSteps(served.world, pending, target, nowMs, pace, encoder);
  return plan.map(({ world, atMs, conditions }: PlannedStep) => {
    const step = { root: worlds.rootOf(world), at: new Date(atMs).toISOString() };
    if (conditions === undefined) return step;
    const gate = jsonBlob(gateOf(conditions));
    gates.set(gate.hash, gate);
    return { ...step, gate: gate.hash };
  });
}

/** @throws PortolanError that says what to do where the root's blobs are missing or damaged */
async function worldToLeadTo(worlds: OpenWorlds, root: string): Promise<CompiledWorld> {
  const lackingBefore = worlds.lacking.size;
  try {
    return await worlds.get(root);
  } catch (cause) {
    if (worlds.lacking.size === lackingBefore || !(cause instanceof Error)) throw cause;
    throw new PortolanError(
      `root ${root.slice(0, 12)} is not whole (${cause.message}), so it is not served; ` +
        "`portolan fsck --repair` rebuilds it from the sources, or roll back to an earlier version",
      [],
      cause,
    );
  }
}

/** The configuration of a root, named as in `ConfigurationChange`. @param known a root of which it is known, and what it is */
async function configurationOf(
  worlds: OpenWorlds,
  root: string,
  [knownRoot, known]: readonly [string, string],
): Promise<string> {
  if (root === knownRoot) return known;
  return (await worlds.get(root)).configuration ?? root;
}

/** The history's root: that which everybody is led to, or one that is only recorded. */
function entryOf(
  before: Aims,
  aims: Aims,
  { newest, served }: Configurations,
): Pick<HeadChange, "root" | "held" | "recorded"> {
  const isRecorded = before.newest !== aims.newest && aims.newest !== aims.everybody;
  if (before.everybody === aims.everybody && before.newest !== aims.newest) return { root: aims.newest, held: true };
  // Everybody gets newer endpoints at the same moment.
  const isNews = isRecorded && newest !== before.configurations.newest && newest !== served;
  return { root: aims.everybody, ...(isNews ? { recorded: aims.newest } : {}) };
}
