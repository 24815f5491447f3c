/** What operators do with HEAD. Each is one conditional write of it; whoever loses the race is told and changes nothing. */
import { PortolanError } from "../config/diagnostic.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { blobKey } from "./blob.ts";
import { rescue } from "./gc-ledger.ts";
import { type ReadHead, readHead } from "./head.ts";
import { type HistoryEntry, readHistory } from "./history.ts";
import { moveHead } from "./move-head.ts";
import { createPublisher, type PublisherOptions, type PublishResult } from "./publish.ts";
import { reachableFrom } from "./reachable.ts";
import { restoreWorld } from "./restore-world.ts";
import type { Canary, Head, PublicationReason } from "./root.ts";
import { createSnapshotReader } from "./snapshot-reader.ts";

export interface Moved {
  readonly head: Head;
  readonly root: string;
}

/**
 * Leads HEAD back to the root of an earlier publication, in the same steps as any other publish.
 *
 * @param back how many publications to go back, 1 for the one before
 * @throws PortolanError when the history does not go back so far, or another publish came in between
 */
export async function rollback(store: ObjectStore, back: number, options: PublisherOptions = {}): Promise<Moved> {
  const base = await needHead(store);
  const entry = await publicationBefore(store, base.head, back);
  return publishRoot(store, base, entry.root, "rollback", options);
}

/** The publication so many steps back from HEAD's. */
async function publicationBefore(store: ObjectStore, head: Head, back: number): Promise<HistoryEntry> {
  let left = back;
  for await (const entry of readHistory(createSnapshotReader(store), head.publication)) {
    if (left === 0) return entry;
    left -= 1;
  }
  throw new PortolanError(`the history does not go back ${back} publications`);
}

/** Starts, widens or narrows a canary of a root whose blobs are in the store. */
export async function setCanary(store: ObjectStore, canary: Canary, now = Date.now): Promise<Moved> {
  const base = await needHead(store);
  const gone = await rescue(store, await reachableFrom(createSnapshotReader(store), canary.root));
  if (gone.length > 0) throw new PortolanError("the root was collected meanwhile; stage it again");
  return move(store, base, canary, "canary", now);
}

/** Ends a canary; its nodes go back to what the others have. */
export async function abortCanary(store: ObjectStore, now = Date.now): Promise<Moved> {
  const base = await needHead(store);
  needCanary(base.head);
  return move(store, base, undefined, "abort", now);
}

/** Gives the canary's root to everybody. */
export async function promoteCanary(store: ObjectStore, options: PublisherOptions = {}): Promise<Moved> {
  const base = await needHead(store);
  return publishRoot(store, base, needCanary(base.head).root, "promote", options);
}

/** Copies the root that HEAD leads to, with all that it reaches, into an empty store. */
export async function exportSnapshot(from: ObjectStore, to: ObjectStore, now = Date.now): Promise<Moved> {
  const { head } = await needHead(from);
  const root = head.steps.at(-1)?.root ?? "";
  for (const hash of await reachableFrom(createSnapshotReader(from), root)) {
    const found = await from.get(blobKey(hash));
    if (found.kind !== "found") throw new PortolanError(`the store has no blob ${hash}`);
    await to.put(blobKey(hash), found.bytes, { ifNoneMatch: "*" });
  }
  const steps = [{ root, at: new Date(now()).toISOString() }];
  const moved = await moveHead(to, undefined, { steps, reason: "import" }, now());
  if (moved === undefined) throw new PortolanError("there is a snapshot already");
  return { head: moved.head, root };
}

/** Publishes the root that another store's HEAD leads to. */
export async function importSnapshot(
  from: ObjectStore,
  to: ObjectStore,
  options: PublisherOptions = {},
): Promise<PublishResult> {
  const { head } = await needHead(from);
  const { world } = await restoreWorld(createSnapshotReader(from), head.steps.at(-1)?.root ?? "");
  const publisher = createPublisher(to, options);
  return publisher.publish(world, await publisher.head(), "import");
}

async function publishRoot(
  store: ObjectStore,
  base: ReadHead,
  root: string,
  reason: PublicationReason,
  options: PublisherOptions,
): Promise<Moved> {
  const { world } = await restoreWorld(createSnapshotReader(store), root);
  const result = await createPublisher(store, options).publish(world, base, reason);
  if (result.kind === "lost") throw lost();
  return { head: result.head, root };
}

async function move(
  store: ObjectStore,
  base: ReadHead,
  canary: Canary | undefined,
  reason: PublicationReason,
  now: () => number,
): Promise<Moved> {
  const moved = await moveHead(store, base, { steps: base.head.steps, canary, reason }, now());
  if (moved === undefined) throw lost();
  return { head: moved.head, root: moved.head.steps.at(-1)?.root ?? "" };
}

async function needHead(store: ObjectStore): Promise<ReadHead> {
  const read = await readHead(store);
  if (read === undefined) throw new PortolanError("nothing was published yet");
  return read;
}

function needCanary({ canary }: Head): Canary {
  if (canary === undefined) throw new PortolanError("there is no canary");
  return canary;
}

const lost = () => new PortolanError("somebody else moved HEAD at the same moment; look at the history and try again");
