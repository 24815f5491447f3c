/** Places that were given to services, and until when each was wanted; one object of the store, which no compile reads. */
import { isFields } from "../base/untyped.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { type Allocation, allocate } from "./allocate.ts";
import { readEntries, writeEntries } from "./stored-entries.ts";

const stateKey = "compile/allocated";

/** How long a place is kept for a service that no root wants any more. */
const keptMs = 30 * 24 * 3_600_000;

/** When what is wanted is noted anew, so that not each run writes. */
const notedMs = 24 * 3_600_000;

interface Given {
  readonly place: number;
  /** When a served root last wanted it, to a day; milliseconds since the epoch. */
  readonly wantedMs: number;
}

const isGiven = (value: unknown): value is Given =>
  isFields(value) && Number.isInteger(value.place) && typeof value.wantedMs === "number";

/** What is given to services now. */
export async function allocationIn(store: ObjectStore): Promise<Allocation> {
  const { entries } = await readEntries(store, stateKey, isGiven);
  return placesOf([...entries]);
}

const placesOf = (given: readonly (readonly [string, Given])[]): Allocation =>
  new Map(given.map(([service, { place }]) => [service, place]));

const maxAttempts = 8;

/**
 * Gives places to services that have none, and stores them before anybody reads them; of several at once each goes on from what the other
 * gave. Where others write all the time the next run gives them.
 */
export async function giveAddresses(
  store: ObjectStore,
  { services, taken }: { readonly services: readonly string[]; readonly taken: readonly string[] },
  nowMs: number,
): Promise<void> {
  const wanted = new Set(services);
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const { entries: given, etag } = await readEntries(store, stateKey, isGiven);
    const kept = [...given].filter(([service, { wantedMs }]) => wanted.has(service) || nowMs - wantedMs < keptMs);
    const places = allocate(placesOf(kept), services, taken);
    const isNoted = services.every((service) => nowMs - (given.get(service)?.wantedMs ?? 0) < notedMs);
    if (places.size === given.size && isNoted) return;
    const next = [...places].map(([service, place]): [string, Given] => {
      const wantedMs = wanted.has(service) ? nowMs : (given.get(service)?.wantedMs ?? nowMs);
      return [service, { place, wantedMs }];
    });
    if (await writeEntries(store, stateKey, { entries: new Map(next), etag })) return;
  }
}
