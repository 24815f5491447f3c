/**
 * What operators do with HEAD. Each is one conditional write of it. Whoever loses the race to a publisher tries again; whoever loses it
 * to another operator is told, and changes nothing.
 */
import { PortolanError } from "../../config/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { blobKey } from "../blob.ts";
import { createPublisher, type PublisherOptions, type PublishResult } from "../publish.ts";
import type { Canary, Head, Pin, PublicationReason, Root } from "../root.ts";
import { createSnapshotReader } from "../snapshot-reader.ts";
import { reachableFrom } from "../upkeep/reachable.ts";
import { createWorldEncoder } from "../worlds/encode-world.ts";
import { restoreWorld } from "../worlds/restore-world.ts";
import { type Aims, aborted, promoted, rolledBack, unpinned, withCanary } from "./aims.ts";
import { onClock, storeClock } from "./clock.ts";
import { lastRoot, type ReadHead, readHead } from "./head.ts";
import { mendHistory } from "./head-copy.ts";
import { readHistory } from "./history.ts";
import { type Act, createLeader } from "./lead.ts";
import { refuseLostHead } from "./lost-head.ts";
import { moveHead } from "./move-head.ts";
import type { Trust } from "./signatures.ts";
import type { SigningJwk } from "./signing-keys.ts";
import { defaultPace } from "./steps.ts";
import { wayBack } from "./way-back.ts";

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
}

/** Who acts, why, and how long a pin that comes of it holds. */
export interface Word {
  readonly by?: string;
  readonly why?: string;
  /** Absent: until somebody lets go. */
  readonly until?: Until;
}

/** When a pin is over: so long after it began, or at a time since the epoch. The store's clock counts. */
export type Until = { readonly afterMs: number } | { readonly atMs: number };

export type OperatorOptions = PublisherOptions & Word;

/**
 * Leads HEAD back to the root of an earlier publication, in the same steps as any other publish, and pins it there: what is
 * published meanwhile is recorded and served to nobody until somebody lets go. A canary that is running ends with it.
 *
 * @param back how many roots to go back among those that were served, 1 for the one before; what a rollback left is none of them. Or the
 *   root itself
 * @throws PortolanError when the history does not go back so far, the root is a canary's and was never served to all, or another operator
 *   came in between
 */
export async function rollback(
  store: ObjectStore,
  back: number | string,
  options: OperatorOptions = {},
): Promise<Moved> {
  const base = await needHead(store, options);
  await mendHistory(store);
  const root = typeof back === "string" ? back : await rootServedBefore(store, base.head, back);
  await refuseCanary(store, base.head, root);
  const moved = await act(store, base, "rollback", options, (aims, pin) => rolledBack(aims, root, pin));
  return (await sayTheSame(store, moved)) ? { ...moved, saysTheSame: true } : moved;
}

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

const answersIn = ({ tables, classes, classifier, nodes, legacy, secretGrants }: Root): string =>
  JSON.stringify([tables, classes, classifier, nodes, legacy, secretGrants]);

/** Back to what was never served to all would be forward, for most nodes. */
async function refuseCanary(store: ObjectStore, { canary, steps, publication }: Head, root: string): Promise<void> {
  if (canary?.root !== root || lastRoot(steps) === root) return;
  for await (const served of rootsServed(store, publication)) if (served === root) return;
  throw new PortolanError(
    "that is what the canary has, and nothing to roll back to: `portolan promote` gives it to everybody, `portolan abort` ends the canary alone, `portolan rollback 0` ends it and pins what is served",
  );
}

/** The root that was served so many roots before HEAD's. */
async function rootServedBefore(store: ObjectStore, head: Head, back: number): Promise<string> {
  let left = back;
  for await (const root of rootsServed(store, head.publication)) {
    if (left === 0) return root;
    left -= 1;
  }
  throw new PortolanError(
    `the history does not go back ${back} ${back === 1 ? "publication that was" : "publications that were"} served and not left by a rollback; ` +
      "`portolan history` lists what is left of it: `rollback --to` goes to any of them. Where an entry is missing, `portolan fsck` says why",
  );
}

/** Roots that everybody was led to and that no rollback left, the latest first. */
async function* rootsServed(store: ObjectStore, publication: string): AsyncGenerator<string> {
  for await (const { root } of wayBack(readHistory(createSnapshotReader(store), publication))) yield root;
}

/** Lets go of what is pinned: everybody is led to the newest publish. */
export async function unpin(store: ObjectStore, options: OperatorOptions = {}): Promise<Moved> {
  return act(store, await needHead(store, options), "unpin", options, unpinned);
}

/** Starts, widens or narrows a canary of a root whose blobs are in the store. */
export async function setCanary(store: ObjectStore, canary: Canary, options: OperatorOptions = {}): Promise<Moved> {
  return act(store, await needHead(store, options), "canary", options, (aims) => withCanary(aims, canary));
}

/** Ends a canary; its nodes go back to what the others have, and all are held there if the sources lead elsewhere. */
export async function abortCanary(store: ObjectStore, options: OperatorOptions = {}): Promise<Moved> {
  return act(store, await needHead(store, options), "abort", options, aborted);
}

/** Gives the canary's root to everybody, and holds them there if the sources lead elsewhere. */
export async function promoteCanary(store: ObjectStore, options: OperatorOptions = {}): Promise<Moved> {
  return act(store, await needHead(store, options), "promote", options, promoted);
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

async function act(
  store: ObjectStore,
  base: ReadHead,
  reason: PublicationReason,
  options: OperatorOptions,
  change: (aims: Aims, pin: Pin) => Aims,
): Promise<Moved> {
  const { by = "", why = "", until } = options;
  const lead = createLeader(store, createWorldEncoder(), options);
  const acting: Act = (aims, { nowMs }) =>
    change(aims, { by, why: why || reason, since: new Date(nowMs).toISOString(), ...endOf(until, nowMs) });
  let read = base;
  for (let attempt = 1; ; attempt += 1) {
    const led = await lead(read, acting, { reason, by, why });
    if (led.kind !== "lost") {
      const { canary } = read.head;
      const ended = canary !== undefined && led.head.canary === undefined ? { ended: canary } : {};
      return { head: led.head, root: led.aims.everybody, left: lastRoot(read.head.steps), ...ended };
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

/** What operators have said of a HEAD. */
const wordOf = ({ pin, canary }: Head): string => JSON.stringify([pin, canary]);

async function needHead(store: ObjectStore, trust: Trust = {}): Promise<ReadHead> {
  const read = await readHead(store, trust);
  if (read !== undefined) return read;
  await refuseLostHead(store);
  throw new PortolanError("nothing was published yet");
}

const lost = () => new PortolanError("somebody else moved HEAD at the same moment; look at the history and try again");
