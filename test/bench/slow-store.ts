import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import type { ListedObject, ObjectStore } from "../../lib/storage/object-store.ts";
import { md5Of } from "../../lib/storage/vouched-for.ts";

/** What a store was asked. */
export interface Asked {
  readonly requests: number;
  /** How many requests followed each other, each begun after the one before had its answer. */
  readonly rounds: number;
}

export interface SlowStore {
  readonly store: ObjectStore;
  /** What was asked since the last call. */
  asked(): Asked;
}

/**
 * A store behind a wire: every request takes so long, however little it brings, and at most so many are under way at a time. Its lists
 * vouch for what is in it, as those of S3 do.
 *
 * @param wait milliseconds of each request, of a list for every 1,000 keys; or resolves when a request may end
 * @param connections as many as a client of S3 opens
 */
export function slowStore(below: ObjectStore, wait: number | (() => Promise<void>), connections = 50): SlowStore {
  const waited = typeof wait === "number" ? () => sleep(wait) : wait;
  let requests = 0;
  let rounds = 0;
  let underWay = 0;
  const waiting: (() => void)[] = [];
  const request = async <T>(ask: () => Promise<T>): Promise<T> => {
    requests += 1;
    if (underWay >= connections) await new Promise<void>((resolve) => waiting.push(resolve));
    underWay += 1;
    const round = rounds + 1;
    try {
      const [answer] = await Promise.all([ask(), waited()]);
      return answer;
    } finally {
      rounds = Math.max(rounds, round);
      underWay -= 1;
      waiting.shift()?.();
    }
  };
  const store: ObjectStore = {
    get: (key, condition) => request(() => below.get(key, condition)),
    put: (key, bytes, condition) => request(() => below.put(key, bytes, condition)),
    delete: (key) => request(() => below.delete(key)),
    folders: (prefix) => request(() => below.folders(prefix)),
    async *list(prefix, after) {
      const listed = below.list(prefix, after)[Symbol.asyncIterator]();
      for (;;) {
        const page = await request(async () => {
          const objects: ListedObject[] = [];
          while (objects.length < pageOfList) {
            const next = await listed.next();
            if (next.done === true) return { objects, isLast: true };
            const found = await below.get(next.value.key);
            const md5 = found.kind === "found" ? md5Of(found.bytes) : "";
            objects.push({ ...next.value, md5 });
          }
          return { objects, isLast: false };
        });
        yield* page.objects;
        if (page.isLast) return;
      }
    },
  };
  return {
    store,
    asked() {
      const told = { requests, rounds };
      requests = 0;
      rounds = 0;
      return told;
    },
  };
}

/** As S3 lists. */
const pageOfList = 1_000;

/** So many turns of the event loop without a new request: whoever asks waits for an answer. */
const quietTurns = 32;

/**
 * Ends all requests that are under way once nobody asks for more: those that are asked for at once end together, however slow the machine
 * is.
 */
export function untilQuiet(): () => Promise<void> {
  let requests = 0;
  let ending: Promise<void> | undefined;
  const quiet = async (): Promise<void> => {
    for (let seen = 0; seen < requests; ) {
      seen = requests;
      for (let turns = 0; turns < quietTurns; turns += 1) await turn();
    }
    ending = undefined;
  };
  return () => {
    requests += 1;
    ending ??= quiet();
    return ending;
  };
}
