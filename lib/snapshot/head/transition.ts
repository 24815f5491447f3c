import { type Blob, blobKey, jsonBlob } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { CompiledWorld } from "../compiled.ts";
import type { Canary, Cohort, Head, RolloutStage, Share } from "../root.ts";
import { createBlobCheck } from "../upkeep/blob-check.ts";
import type { WorldEncoder } from "../worlds/encode-world.ts";
import { type OpenWorlds, openWorlds } from "../worlds/open-worlds.ts";
import type { RestoredWorld } from "../worlds/restore-world.ts";
import { repairBlobs, type Written, writeBlobs } from "../write-blobs.ts";
import { onClock, storeClock } from "./clock.ts";
import { maxCohorts, regroup } from "./cohorts.ts";
import { conditionsOf, noCondition, stageConditionOf } from "./conditions.ts";
import { lastRoot, type ReadHead, rootsOfHead, stagesFrom } from "./head.ts";
import { refuseLostHead } from "./lost-head.ts";
import { type Configurations, type HeadChange, makeMove, planMove, writeEntry } from "./move-head.ts";
import { defaultPace, type Pace, planStages } from "./plan-stages.ts";
import type { PlannedStage } from "./planned-stage.ts";
import { noTargets, type RolloutTargets, rolloutTargetsOf, sameTargets } from "./rollout-targets.ts";
import type { Trust } from "./signatures.ts";
import { readStageCondition } from "./stage-conditions.ts";

export interface TransitionOptions extends Trust {
  readonly pace?: Pace;
  readonly now?: () => number;
}

/** Audit information of a transition, for the history. */
export type AuditInfo = Pick<HeadChange, "reason" | "by" | "why" | "back">;

/** Computes the new rollout targets from the current ones. */
export type Mutation = (targets: RolloutTargets, at: MutationContext) => RolloutTargets;

export interface MutationContext {
  readonly nowMs: number;
  /** Root of the world that was passed with the mutation, if one was. */
  readonly compiled?: string;
  /** Root of another world, which is written together with the targets. */
  rootOf(world: CompiledWorld): string;
}

export type TransitionResult =
  | {
      readonly kind: "led";
      readonly head: Head;
      readonly targets: RolloutTargets;
      readonly written: Written;
      /** Roots of the rollout that could not be read: nodes leave them without stages. */
      readonly unread: readonly string[];
    }
  /** HEAD has these targets already; missing or damaged blobs were repaired. */
  | { readonly kind: "as-is"; readonly head: Head; readonly targets: RolloutTargets; readonly written: Written }
  /** Another writer has moved HEAD since `base` was read. */
  | { readonly kind: "lost" };

/**
 * Applies a mutation to HEAD. Nodes whose root changes get it in stages. Blobs are written first, then roots, then HEAD, so that a reader
 * sees all of it or nothing.
 *
 * @param compiled a world whose root the targets may name although the store does not have it yet
 * @throws PortolanError when the mutation is not possible, or a root that it needs is not in the store
 */
export type Transition = (
  base: ReadHead | undefined,
  mutation: Mutation,
  note: AuditInfo,
  compiled?: CompiledWorld,
  beside?: Beside,
) => Promise<TransitionResult>;

/** Work that runs in parallel with a transition, to wait less for the store. */
export interface Beside {
  /** Prewritten blobs of the compiled world, whose content matches their names; absent: none. */
  readonly prewritten?: ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** Asked when content is in place; HEAD stays where it is if this rejects. */
  readonly mayMove?: () => Promise<void>;
  /** Called when HEAD has moved, while its copy is kept. */
  readonly moved?: () => Promise<void>;
}

const nothing = async () => {};

/** Keeps the worlds that HEAD named last in memory: the next transition compares with them. */
export function createTransition(
  store: ObjectStore,
  encoder: WorldEncoder,
  options: TransitionOptions = {},
): Transition {
  const now = options.now ?? Date.now;
  const pace = options.pace ?? defaultPace;
  const check = createBlobCheck(store);
  let remembered: ReadonlyMap<string, RestoredWorld> = new Map();

  return async (base, mutation, note, compiled, beside = {}) => {
    const { mayMove = nothing, moved = nothing } = beside;
    if (base === undefined) await refuseLostHead(store);
    const clock = await storeClock(store, now);
    const nowMs = clock();
    const head = base === undefined ? undefined : onClock(base, nowMs, pace);
    const before = base === undefined ? noTargets : rolloutTargetsOf(base.head, nowMs);
    const worlds = openWorlds(store, encoder, remembered, compiled);
    const { rootOf } = worlds;
    const targets = mutation(before, {
      nowMs,
      rootOf,
      ...(compiled === undefined ? {} : { compiled: rootOf(compiled) }),
    });
    const prewritten = (await beside.prewritten) ?? new Set<string>();
    check.written(prewritten);
    if (base !== undefined && base.head.pin === before.pin && sameTargets(before, targets)) {
      const [{ objects, bytes }] = await Promise.all([repairBlobs(store, check, [...worlds.made.values()]), mayMove()]);
      return { kind: "as-is", head: base.head, targets, written: { objects, bytes, mended: objects } };
    }
    const unread = new Set<string>();
    const conditionBlobs = new Map<string, Blob>();
    const planning = { store, worlds, encoder, nowMs, pace, unread, conditionBlobs };
    const stagesTo = (root: string, from: readonly RolloutStage[]) =>
      plannedStages(planning, stagesFrom(from, nowMs), root);
    const steps = await stagesTo(targets.everybody, head?.steps ?? []);
    const cohorts: Cohort[] = [];
    for (const { shares, leaving, from } of head === undefined ? [] : regroup(head, shareOf(targets.canary), nowMs)) {
      const goal = leaving || targets.canary === undefined ? targets.everybody : targets.canary.root;
      const own = await stagesTo(goal, from ?? head?.steps ?? []);
      cohorts.push({ shares, steps: own, ...(leaving ? { leaving } : {}) });
    }
    if (cohorts.length > maxCohorts) {
      throw new PortolanError("the canary was changed too often at a time, and its nodes are still on their way");
    }

    // What HEAD names cannot be collected while HEAD is what it was; everything else that is relied on might be.
    const named = new Set(base === undefined ? [] : rootsOfHead(base.head));
    const stored = [...worlds.stored].map(([root, { blobs }]) => ({ blobs, isNamed: named.has(root) }));
    const { canary, pin, newest } = targets;
    const configurations = {
      served: await configurationOf(worlds, targets.everybody, [before.everybody, before.configurations.served]),
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
      ...entryOf(before, targets, configurations),
    };
    const plan = async () => {
      const atMs = performance.now();
      return { atMs, move: await planMove(base, change, clock(), options.signer) };
    };
    let planned: Awaited<ReturnType<typeof plan>> | undefined;
    const inPlace = {
      there: stored.filter(({ isNamed }) => isNamed).map(({ blobs }) => blobs),
      found: stored.filter(({ isNamed }) => !isNamed).map(({ blobs }) => blobs),
      prewritten,
    };
    const written = await writeBlobs(store, check, [...worlds.made.values()], inPlace, async () => {
      planned = await plan();
      // If a condition is collected meanwhile, its stage waits for the time.
      const putCondition = ({ hash, bytes }: Blob) => store.put(blobKey(hash), bytes, { ifNoneMatch: "*" });
      await Promise.all([
        mayMove(),
        writeEntry(store, planned.move),
        ...Array.from(conditionBlobs.values(), putCondition),
      ]);
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
      targets,
      written: {
        ...written,
        objects: written.objects + 2 + conditionBlobs.size,
        bytes: [...conditionBlobs.values()].reduce((sum, { bytes }) => sum + bytes.length, written.bytes + entryBytes),
      },
      unread: [...unread],
    };
  };
}

/** The share of a canary, without its root. */
const shareOf = (canary: Canary | undefined): Share | undefined =>
  canary && { percent: canary.percent, labels: canary.labels };

/** Between the time that HEAD says and its being written; what clocks agree in is longer. */
const soonMs = 1_000;

/** Inputs of a plan. */
interface Planning {
  readonly store: ObjectStore;
  readonly worlds: OpenWorlds;
  readonly encoder: WorldEncoder;
  readonly nowMs: number;
  readonly pace: Pace;
  /** Roots of the rollout that cannot be read. */
  readonly unread: Set<string>;
  /** Conditions of the planned stages, by hash. */
  readonly conditionBlobs: Map<string, Blob>;
}

/** The stages from the current ones to a root; the current ones if they end there. */
async function plannedStages(
  { store, worlds, encoder, nowMs, pace, unread, conditionBlobs }: Planning,
  current: readonly RolloutStage[],
  root: string,
): Promise<readonly RolloutStage[]> {
  if (lastRoot(current) === root) return current;
  const target = await targetWorld(worlds, root);
  const stages: PlannedStage[] = [];
  for (const stage of current) {
    const lackingBefore = worlds.lacking.size;
    try {
      const world = await worlds.get(stage.root);
      const atMs = Date.parse(stage.at);
      if (stage.gate === undefined) stages.push({ world, atMs });
      else {
        const gate = await readStageCondition(store, stage.gate);
        stages.push({ world, atMs, conditions: gate === undefined ? noCondition(world) : conditionsOf(gate) });
      }
    } catch (cause) {
      // What cannot be read is not served: better no steps than no way out of it. A store that fails is another matter.
      if (worlds.lacking.size === lackingBefore) throw cause;
      unread.add(stage.root);
    }
  }
  const [served, ...pending] = stages;
  const plan =
    served === undefined
      ? [{ world: target, atMs: nowMs }]
      : planStages(served.world, pending, target, nowMs, pace, encoder);
  return plan.map(({ world, atMs, conditions }: PlannedStage) => {
    const stage = { root: worlds.rootOf(world), at: new Date(atMs).toISOString() };
    if (conditions === undefined) return stage;
    const gate = jsonBlob(stageConditionOf(conditions));
    conditionBlobs.set(gate.hash, gate);
    return { ...stage, gate: gate.hash };
  });
}

/** @throws PortolanError that says what to do where the root's blobs are missing or damaged */
async function targetWorld(worlds: OpenWorlds, root: string): Promise<CompiledWorld> {
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
  before: RolloutTargets,
  targets: RolloutTargets,
  { newest, served }: Configurations,
): Pick<HeadChange, "root" | "held" | "recorded"> {
  const isRecorded = before.newest !== targets.newest && targets.newest !== targets.everybody;
  if (before.everybody === targets.everybody && before.newest !== targets.newest)
    return { root: targets.newest, held: true };
  // Everybody gets newer endpoints at the same moment.
  const isNews = isRecorded && newest !== before.configurations.newest && newest !== served;
  return { root: targets.everybody, ...(isNews ? { recorded: targets.newest } : {}) };
}
