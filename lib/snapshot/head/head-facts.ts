import type { ObjectStore } from "../../storage/object-store.ts";
import { headTimeNow } from "./clock.ts";
import { pinAt, readHead, stagesFrom } from "./head.ts";

/** What lies between what is served and what was published last, for whoever watches over it. */
export interface HeadFacts {
  /** Steps that are still to come. */
  readonly stepsToCome: number;
  readonly hasCanary: boolean;
  readonly isPinned: boolean;
}

/** @returns undefined where nothing was published yet @throws what the store throws */
export async function headFacts(store: ObjectStore, now: () => number): Promise<HeadFacts | undefined> {
  const read = await readHead(store);
  if (read === undefined) return undefined;
  const nowMs = await headTimeNow(store, read, now);
  const { head } = read;
  return {
    stepsToCome: stagesFrom(head.steps, nowMs).length - 1,
    hasCanary: head.canary !== undefined,
    isPinned: pinAt(head, nowMs) !== undefined,
  };
}
