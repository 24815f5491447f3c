/**
 * What operators do with HEAD. Each is one conditional write of it. Whoever loses the race to a publisher tries again; whoever loses it
 * to another operator is told, and changes nothing.
 */

import { blobKey } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { createPublisher, type PublisherOptions, type PublishResult } from "../publish.ts";
import { createSnapshotReader } from "../reader/snapshot-reader.ts";
import type { Canary, Configuration, Head, Pin, PublicationReason, Root } from "../root.ts";
import { storedRootIfWhole } from "../stored-root.ts";
import { reachableFrom } from "../upkeep/reachable.ts";
import { createWorldEncoder } from "../worlds/encode-world.ts";
import { restoreWorld } from "../worlds/restore-world.ts";
import { onClock, storeClock } from "./clock.ts";
import { lastRoot, type ReadHead, readHead, servedConfiguration } from "./head.ts";
import { mendHistory } from "./head-copy.ts";
import { refuseUnseen } from "./history/head-moved.ts";
import { configurationIn, readChanges } from "./history/history.ts";
import { rollbackHistory } from "./history/rollback-history.ts";
import { refuseLostHead } from "./lost-head.ts";
import { moveHead } from "./move-head.ts";
import { defaultPace } from "./plan-stages.ts";
import {
  aborted,
  holding,
  promoted,
  type RolloutTargets,
  rolledBack,
  unpinned,
  withCanary,
} from "./rollout-targets.ts";
import type { Trust } from "./signatures.ts";
import type { SigningJwk } from "./signing-keys.ts";
import { type AuditInfo, createTransition, type Mutation, type TransitionResult } from "./transition.ts";

export interface Moved {
  readonly head: Head;
  /** What everybody is led to. */
  readonly root: string;
  /** What everybody was led to before, where an operator led them. */
  readonly left?: string;
  /** The canary that this was the end of. */
  readonly ended?: Canary;
  /** A rollback to what says the same to every proxy: only what it was compiled from reads otherwise. */
  readonly saysTheSame?: boolean;
  /** Why endpoints are those of then; absent: they are the newest. */
  readonly stale?: string;
}

/** Who acts, why, on what they saw, and how long a pin that comes of it holds. */
export interface Word {
  readonly by?: string;
  readonly why?: string;
  /** Absent: until somebody lets go. */
  readonly until?: Until;
  /** Generation of the HEAD that was seen: another one is not moved. Absent: whatever publishers do meanwhile. */
  readonly seen?: number;
}

/** When a pin is over: so long after it began, or at a time since the epoch. The store's clock counts. */
export type Until = { readonly afterMs: number } | { readonly atMs: number };

export type OperatorOptions = PublisherOptions & Word;

/**
 * Leads HEAD back to the root of an earlier publication, in the same steps as any other publish, and pins it there: what is
 * published meanwhile is recorded and not served until somebody lets go. A canary that is running ends with it.
 *
 * Endpoints are those of the root, until somebody lets go: `createRollout` of the compiler leads back to the configuration alone.
 *
 * @param back how many configurations to go back among those that were served, 1 for the one before; what a rollback left is none of
 *   them. Or the root itself
 * @param configuration that of the root: the next compile leads on to it with the newest endpoints; absent: the root stays
 * @throws PortolanError when the history does not go back so far, the root is a canary's and was never served to all, or another operator
 *   came in between
 */
export async function rollback(
  store: ObjectStore,
  back: number | string,
  options: OperatorOptions = {},
  configuration?: Configuration,
): Promise<Moved> {
  const base = await needHead(store, options);
  const { root, back: to } = await rollbackTarget(store, base.head, back);
  const change: Change = (targets, pin) => rolledBack(targets, root, holding(pin, configuration));
  return toldAlike(store, await mutation(store, base, { reason: "rollback", options, back: to }, change));
}

/** What a rollback leads back to. */
export interface RollbackTarget {
  readonly root: string;
  /** Named as in `ConfigurationChange`. */
  readonly configuration: string;
  /** As in `Publication`. */
  readonly back: string;
}

/**
 * @param back as `rollback` has it
 * @throws PortolanError as `rollback` does
 */
export async function rollbackTarget(store: ObjectStore, head: Head, back: number | string): Promise<RollbackTarget> {
  await mendHistory(store);
  const target = typeof back === "string" ? await namedTarget(store, back) : await servedBefore(store, head, back);
  await refuseCanary(store, head, target);
  return target;
}

async function namedTarget(store: ObjectStore, root: string): Promise<RollbackTarget> {
  const { configuration = root } = (await storedRootIfWhole(store, root)) ?? {};
  return { root, configuration, back: configuration };
}

/** Says so where what is served says to every proxy what was served before. */
export const toldAlike = async (store: ObjectStore, moved: Moved): Promise<Moved> =>
  (await sayTheSame(store, moved)) ? { ...moved, saysTheSame: true } : moved;

/** Whether what was left and what is led to are alike in all that a front answers by. What cannot be read is like nothing. */
async function sayTheSame(store: ObjectStore, { root, left = root, ended }: Moved): Promise<boolean> {
  // Nodes of a canary that is over had something else.
  if (ended !== undefined) return false;
  const reader = createSnapshotReader(store);
  const answers = await Promise.all(
    [root, left].map((hash) =>
      reader.root(hash).then(
        ({ root: read }) => answersIn(read),
        () => hash,
      ),
    ),
  );
  return answers[0] === answers[1];
}

const answersIn = ({ tables, classes, classifier, nodes, legacy, secretGrants, trustBundles }: Root): string =>
  JSON.stringify([tables, classes, classifier, nodes, legacy, secretGrants, trustBundles]);

/** Back to what was never served to all would be forward, for most nodes. */
async function refuseCanary(store: ObjectStore, head: Head, { root, configuration }: RollbackTarget): Promise<void> {
  const { canary } = head;
  const isCanary = canary?.root === root || canary?.configuration?.version === configuration;
  if (!isCanary || lastRoot(head.steps) === root || servedConfiguration(head) === configuration) return;
  for await (const served of servedOnWay(store, head)) if (configurationIn(served) === configuration) return;
  throw new PortolanError(
    "that is what the canary has, and nothing to roll back to: `portolan promote` gives it to all nodes, `portolan abort` ends the canary alone, `portolan rollback 0` ends it and pins what is served",
  );
}

/** What was served so many configurations before HEAD's. */
async function servedBefore(store: ObjectStore, head: Head, back: number): Promise<RollbackTarget> {
  let left = back;
  for await (const entry of servedOnWay(store, head)) {
    // Since it was published, endpoints have changed.
    const root = back === 0 ? lastRoot(head.steps) : entry.root;
    if (left === 0) return { root, configuration: configurationIn(entry), back: entry.hash };
    left -= 1;
  }
  throw new PortolanError(
    `the history does not go back ${back} ${back === 1 ? "configuration that was" : "configurations that were"} served and not left by a rollback; ` +
      "`portolan history --config` lists what is left of it: `rollback --to` goes to any of them. Where an entry is missing, `portolan fsck` shows the reason",
  );
}

/** Entries that led everybody to another configuration and that no rollback left, the latest first. */
const servedOnWay = (store: ObjectStore, head: Head) => rollbackHistory(readChanges(createSnapshotReader(store), head));

/** Lets go of what is pinned: everybody is led to the newest publish. */
export async function unpin(store: ObjectStore, options: OperatorOptions = {}): Promise<Moved> {
  return mutation(store, await needHead(store, options), { reason: "unpin", options }, unpinned);
}

/** Starts, widens or narrows a canary of a root whose blobs are in the store. */
export async function setCanary(store: ObjectStore, canary: Canary, options: OperatorOptions = {}): Promise<Moved> {
  return mutation(store, await needHead(store, options), { reason: "canary", options }, (targets) =>
    withCanary(targets, canary),
  );
}

/** Ends a canary; its nodes go back to what the others have, and all are held there if the sources lead elsewhere. */
export async function abortCanary(store: ObjectStore, options: OperatorOptions = {}): Promise<Moved> {
  return mutation(store, await needHead(store, options), { reason: "abort", options }, aborted);
}

/** Gives the canary's root to everybody, and holds them there if the sources lead elsewhere. */
export async function promoteCanary(store: ObjectStore, options: OperatorOptions = {}): Promise<Moved> {
  return mutation(store, await needHead(store, options), { reason: "promote", options }, promoted);
}

/** Copies the root that HEAD leads to, with all that it reaches, into an empty store. */
export async function exportSnapshot(
  from: ObjectStore,
  to: ObjectStore,
  { now = Date.now, ...trust }: PublisherOptions = {},
): Promise<Moved> {
  const { head } = await needHead(from, trust);
  await refuseLostHead(to);
  const root = lastRoot(head.steps);
  for (const hash of await reachableFrom(createSnapshotReader(from), root)) {
    const found = await from.get(blobKey(hash));
    if (found.kind !== "found") throw new PortolanError(`the store has no blob ${hash}`);
    await to.put(blobKey(hash), found.bytes, { ifNoneMatch: "*" });
  }
  const steps = [{ root, at: new Date(now()).toISOString() }];
  const moved = await moveHead(to, undefined, { steps, reason: "import" }, now(), trust.signer);
  if (moved === undefined) throw new PortolanError("there is a snapshot already");
  return { head: moved, root };
}

/** Publishes the root that another store's HEAD leads to. */
export async function importSnapshot(
  from: ObjectStore,
  to: ObjectStore,
  options: PublisherOptions = {},
): Promise<PublishResult> {
  const { head } = await needHead(from);
  const { world } = await restoreWorld(createSnapshotReader(from), lastRoot(head.steps));
  const publisher = createPublisher(to, options);
  return publisher.publish(world, await publisher.head(), { reason: "import" });
}

/**
 * Vouches for HEAD as it is: for one that was never signed, or with a key that is trusted no more. Look at it first.
 *
 * @throws PortolanError when somebody else moved HEAD
 */
export async function signHeadAsIs(store: ObjectStore, signer: SigningJwk, now = Date.now): Promise<Moved> {
  const base = await needHead(store);
  const nowMs = (await storeClock(store, now))();
  const head = onClock(base, nowMs, defaultPace);
  const moved = await moveHead(store, base, { ...head, reason: "sign" }, nowMs, signer);
  if (moved === undefined) throw lost();
  return { head: moved, root: lastRoot(moved.steps) };
}

/** What an act leads HEAD to. @param pin one that says who acts and why, for where something is held from now on */
export type Change = (targets: RolloutTargets, pin: Pin) => RolloutTargets;

async function mutation(store: ObjectStore, base: ReadHead, deed: Deed, change: Change): Promise<Moved> {
  const { options } = deed;
  const transition = createTransition(store, createWorldEncoder(), options);
  return transitionWith(store, base, deed, (read, note) => {
    const acting: Mutation = (targets, { nowMs }) => change(targets, pinOf(note, options, nowMs));
    return transition(read, acting, note);
  });
}

/** What an operator does, as the history is to say it. */
export interface Deed {
  readonly reason: PublicationReason;
  readonly options: OperatorOptions;
  /** As in `Publication`. */
  readonly back?: string;
}

/** A pin that says who acts and why. @throws PortolanError for a time that is over */
export const pinOf = ({ by = "", why = "", reason }: AuditInfo, { until }: Word, nowMs: number): Pin => ({
  by,
  why: why || reason,
  since: new Date(nowMs).toISOString(),
  ...endOf(until, nowMs),
});

/**
 * Moves HEAD for an operator: again where a publisher was faster, and not where another operator was.
 *
 * @param move one attempt, from a HEAD that was just read
 * @throws HeadMoved where the operator has seen another HEAD
 */
export async function transitionWith(
  store: ObjectStore,
  base: ReadHead,
  { reason, options, back }: Deed,
  move: (read: ReadHead, note: AuditInfo) => Promise<TransitionResult>,
): Promise<Moved> {
  const { by = "", why = "", seen } = options;
  const note: AuditInfo = { reason, by, why, ...(back === undefined ? {} : { back }) };
  let read = base;
  for (let attempt = 1; ; attempt += 1) {
    // Of the very HEAD that is replaced, so that none comes in between.
    refuseUnseen(read.head.generation, seen);
    const result = await move(read, note);
    if (result.kind !== "lost") {
      const { canary } = read.head;
      const ended = canary !== undefined && result.head.canary === undefined ? { ended: canary } : {};
      return { head: result.head, root: result.targets.everybody, left: lastRoot(read.head.steps), ...ended };
    }
    const next = await needHead(store, options);
    if (attempt >= maxAttempts || wordOf(next.head) !== wordOf(base.head)) throw lost();
    read = next;
  }
}

/** @throws PortolanError for a time that is over: whoever set it by a wrong clock would pin nothing */
function endOf(until: Until | undefined, nowMs: number): Pick<Pin, "until"> {
  if (until === undefined) return {};
  const at = new Date("atMs" in until ? until.atMs : nowMs + until.afterMs).toISOString();
  if (Date.parse(at) > nowMs) return { until: at };
  throw new PortolanError(
    `${at} is over: the store's clock shows ${new Date(nowMs).toISOString()}; a pin needs a time to come`,
  );
}

/** However busy publishers are, an operator gets through; he does not when another one has acted meanwhile. */
const maxAttempts = 30;

/** What operators have said of a HEAD. The root of a canary follows its endpoints by itself. */
const wordOf = ({ pin, canary }: Head): string =>
  JSON.stringify([pin, canary?.configuration === undefined ? canary : { ...canary, root: "" }]);

/** @throws PortolanError where there is none */
export async function needHead(store: ObjectStore, trust: Trust = {}): Promise<ReadHead> {
  const read = await readHead(store, trust);
  if (read !== undefined) return read;
  await refuseLostHead(store);
  throw new PortolanError("nothing was published yet");
}

const lost = () =>
  new PortolanError("another process moved HEAD at the same moment; look at the history and try again");
