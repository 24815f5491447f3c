import { PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { onClock, storeClock } from "../head/clock.ts";
import { lastRoot, readHead } from "../head/head.ts";
import type { Moved, OperatorOptions } from "../head/head-operations.ts";
import { refuseLostHead } from "../head/lost-head.ts";
import { moveHead } from "../head/move-head.ts";
import { defaultPace } from "../head/plan-stages.ts";
import { refuseLiving, unmarkCopy } from "./copy-of.ts";

/** No store that is lost was so many generations ahead of its copy; the numbers go on from the next thousand but one. */
const ahead = 1_000;

export interface TakeOverOptions extends OperatorOptions {
  /** A generation that was seen at the store that is lost: the copy's will be above it, however far it lags behind. */
  readonly above?: number;
  /** Gives the store of a place: that of the original, to see whether it lives. Nobody looks when it is absent. */
  readonly open?: (place: string) => Promise<ObjectStore>;
  /** Whatever the store and its original are; false when absent. */
  readonly forced?: boolean;
}

/**
 * Makes the writer's store of a copy: its HEAD says what it said, with a generation above every one that the lost store may have had. By
 * that readers know that it is no older state come back, but what somebody has decided.
 *
 * @throws PortolanError when nothing was copied yet, the store is no copy or its original lives, or somebody else moves HEAD at the same
 * moment
 */
export async function takeOver(store: ObjectStore, options: TakeOverOptions = {}): Promise<Moved> {
  const { by = "", why = "", now = Date.now, pace = defaultPace, signer, above = 0, open, forced = false } = options;
  const read = await readHead(store, options);
  if (read === undefined) {
    await refuseLostHead(store);
    throw new PortolanError("nothing was copied yet into this store");
  }
  if (!forced) await refuseLiving(store, open);
  const nowMs = (await storeClock(store, now))();
  const head = onClock(read, nowMs, pace);
  const known = Math.max(head.generation, above);
  const generation = (Math.floor(known / ahead) + 2) * ahead - 1;
  const base = { head: { ...head, generation }, etag: read.etag };
  // Like a HEAD that was rebuilt, it passes over generations that this history does not have.
  const moved = await moveHead(store, base, { ...head, reason: "recover", by, why }, nowMs, signer);
  if (moved === undefined)
    throw new PortolanError("another process moved HEAD at the same moment; look at the history");
  await unmarkCopy(store);
  return { head: moved, root: lastRoot(head.steps) };
}
