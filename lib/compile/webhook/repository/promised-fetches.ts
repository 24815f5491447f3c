import { PortolanError } from "../../../base/diagnostic.ts";
import { isFields, jsonIn } from "../../../base/untyped.ts";
import type { ObjectStore } from "../../../storage/object-store.ts";
import { isShort, type PushEvent } from "./push-event.ts";

/** A fetch that a forge was promised by the answer 202. */
export interface PromisedFetch {
  readonly source: string;
  /** Names the delivery that carries it out, among those of the source's host. */
  readonly delivery: string;
  /** The pushes that it brings, the newest last. */
  readonly pushes: readonly PushEvent[];
  /** How often it was taken up by a process that found it in the store. */
  readonly attempts: number;
}

/** What is promised lies in the store, so that it outlives the process that has promised it. */
export interface PromisedFetches {
  all(): Promise<readonly PromisedFetch[]>;
  /** @throws PortolanError where it is not kept, so that nothing may be promised */
  add(source: string, delivery: string, pushes: readonly PushEvent[]): Promise<void>;
  /** Counts an attempt before it is made: a fetch that ends its process is not taken up for ever. @returns whether it may be made */
  mayAttempt(source: string, delivery: string): Promise<boolean>;
  /** Takes it out, where it is in. */
  settle(source: string, delivery: string): Promise<void>;
}

/** One object for all: a process has two for each source at most. */
const promisedKey = "compile/promised-fetches";
const maxPromised = 256;
const maxPushes = 16;
const maxAttempts = 3;
const maxWrites = 20;

export function createPromisedFetches(store: ObjectStore): PromisedFetches {
  const is = (source: string, delivery: string) => (one: PromisedFetch) =>
    one.source === source && one.delivery === delivery;

  /** @param change returns undefined where nothing is to be written */
  async function update(
    change: (fetches: readonly PromisedFetch[]) => readonly PromisedFetch[] | undefined,
  ): Promise<void> {
    for (let write = 0; write < maxWrites; write += 1) {
      const { etag, serial, fetches } = await read(store);
      const changed = change(fetches);
      if (changed === undefined) return;
      // The serial grows, so that no two have the same bytes.
      const bytes = new TextEncoder().encode(JSON.stringify({ serial: serial + 1, fetches: changed }));
      const put = await store.put(promisedKey, bytes, etag === undefined ? { ifNoneMatch: "*" } : { ifMatch: etag });
      if (put.kind === "stored") return;
    }
    throw new PortolanError(`too many processes write ${promisedKey} at once; try again`);
  }

  return {
    all: async () => (await read(store)).fetches,
    async add(source, delivery, pushes) {
      await update((fetches) => {
        const known = fetches.find(is(source, delivery));
        if (known === undefined && fetches.length >= maxPromised)
          throw new PortolanError(`${maxPromised} fetches are promised already`);
        const all = [...(known?.pushes ?? []), ...pushes.filter(isShort)].slice(-maxPushes);
        const others = fetches.filter((one) => one !== known);
        return [...others, { source, delivery, pushes: all, attempts: known?.attempts ?? 0 }];
      });
    },
    async mayAttempt(source, delivery) {
      let may = false;
      await update((fetches) => {
        const promised = fetches.find(is(source, delivery));
        may = promised !== undefined && promised.attempts < maxAttempts;
        return fetches.flatMap((one) => {
          if (one !== promised) return [one];
          return may ? [{ ...one, attempts: one.attempts + 1 }] : [];
        });
      });
      return may;
    },
    async settle(source, delivery) {
      await update((fetches) => {
        const others = fetches.filter((one) => !is(source, delivery)(one));
        return others.length === fetches.length ? undefined : others;
      });
    },
  };
}

interface Stored {
  readonly etag: string | undefined;
  readonly serial: number;
  readonly fetches: readonly PromisedFetch[];
}

/** What is no list of promised fetches counts as none: it is written anew by the next one. */
async function read(store: ObjectStore): Promise<Stored> {
  const found = await store.get(promisedKey);
  if (found.kind !== "found") return { etag: undefined, serial: 0, fetches: [] };
  const json = jsonIn(new TextDecoder().decode(found.bytes));
  const { serial, fetches } = isFields(json) ? json : {};
  return {
    etag: found.etag,
    serial: Number.isSafeInteger(serial) ? Number(serial) : 0,
    fetches: Array.isArray(fetches) ? fetches.filter(isPromised) : [],
  };
}

const isPromised = (value: unknown): value is PromisedFetch =>
  isFields(value) &&
  typeof value.source === "string" &&
  typeof value.delivery === "string" &&
  Number.isSafeInteger(value.attempts) &&
  Array.isArray(value.pushes) &&
  value.pushes.every(isPush);

const isPush = (value: unknown): boolean =>
  isFields(value) &&
  [value.repository, value.ref, value.before, value.after, value.pusher].every((text) => typeof text === "string");
