import { createSemaphore } from "../../../limits/semaphore.ts";
import { isShort, type PushEvent } from "./push-event.ts";

/** Each fetch may hold `sourceBytes` of text until it is written: four hold as much as `bodiesBytes`, 128 MiB. */
const maxFetches = 4;
/** Pushes remembered for one fetch. An older one is forgotten, and costs at most a look at a commit that is not shown yet. */
const maxEvents = 16;

/** Thrown for a delivery that needs no fetch of its own: one that has not begun yet brings its commit too. */
export class FetchAlreadyWaiting extends Error {
  /** The delivery whose fetch waits. */
  readonly delivery: string;

  constructor(delivery: string) {
    super("a fetch of the source waits already");
    this.delivery = delivery;
  }
}

/**
 * Runs a fetch for a source when there is room. It is given all pushes that came before it began, the newest last.
 *
 * @param delivery names it
 * @throws FetchAlreadyWaiting where another fetch of the source waits to begin; that one is given `pushes`
 */
export type FetchQueue = <T>(
  source: string,
  delivery: string,
  pushes: readonly PushEvent[],
  fetch: (events: readonly PushEvent[]) => Promise<T>,
) => Promise<T>;

/**
 * For each source one fetch is under way and one waits, at most, so the queue is as long as the list of sources. A source queues for a place
 * again only when its last fetch has ended, behind the other sources: the places go round, and none has two.
 */
export function createFetchQueue(places: number = maxFetches): FetchQueue {
  const all = createSemaphore(places);
  const own = new Map<string, ReturnType<typeof createSemaphore>>();
  const waiting = new Map<string, { readonly delivery: string; readonly events: PushEvent[] }>();
  return async (source, delivery, pushes, fetch) => {
    const joined = waiting.get(source);
    if (joined !== undefined) {
      joined.events.push(...pushes.filter(isShort));
      joined.events.splice(0, joined.events.length - maxEvents);
      throw new FetchAlreadyWaiting(joined.delivery);
    }
    const events = [...pushes];
    waiting.set(source, { delivery, events });
    const semaphore = own.get(source) ?? createSemaphore(1);
    own.set(source, semaphore);
    const endFetch = await semaphore.enter(1);
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
