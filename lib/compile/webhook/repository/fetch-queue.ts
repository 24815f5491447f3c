import { createGate } from "../../../limits/gate.ts";
import type { PushEvent } from "./push-event.ts";
import { isSha } from "./repository-host.ts";

/** Each fetch may hold `sourceBytes` of text until it is written: four hold as much as `bodiesBytes`, 128 MiB. */
const maxFetches = 4;
/** Pushes remembered for one fetch. An older one is forgotten, and costs at most a look at a commit that is not shown yet. */
const maxEvents = 16;
const maxPusherLength = 256;

/** Thrown for a delivery that needs no fetch of its own: one that has not begun yet brings its commit too. */
export class FetchAlreadyWaiting extends Error {}

/**
 * Runs a fetch for a source when there is room. It is given all pushes that came before it began, the newest last.
 *
 * @throws FetchAlreadyWaiting where another fetch of the source waits to begin; that one is given `event`
 */
export type FetchQueue = <T>(
  source: string,
  event: PushEvent,
  fetch: (events: readonly PushEvent[]) => Promise<T>,
) => Promise<T>;

/**
 * For each source one fetch is under way and one waits, at most, so the queue is as long as the list of sources. A source queues for a place
 * again only when its last fetch has ended, behind the other sources: the places go round, and none has two.
 */
export function createFetchQueue(places: number = maxFetches): FetchQueue {
  const all = createGate(places);
  const own = new Map<string, ReturnType<typeof createGate>>();
  const waiting = new Map<string, PushEvent[]>();
  return async (source, event, fetch) => {
    const joined = waiting.get(source);
    if (joined !== undefined) {
      remember(joined, event);
      throw new FetchAlreadyWaiting();
    }
    const events = [event];
    waiting.set(source, events);
    const gate = own.get(source) ?? createGate(1);
    own.set(source, gate);
    const endFetch = await gate.enter(1);
    const leavePlace = await all.enter(1);
    waiting.delete(source);
    try {
      return await fetch(events);
    } finally {
      leavePlace();
      endFetch();
    }
  };
}

/** A body may have megabytes in any field: only what can be of use is kept in memory. */
function remember(events: PushEvent[], event: PushEvent): void {
  if (!isSha(event.before) || !isSha(event.after) || event.pusher.length > maxPusherLength) return;
  events.push(event);
  if (events.length > maxEvents) events.shift();
}
