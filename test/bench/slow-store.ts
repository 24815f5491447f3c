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
 * @param waitMs of each request; of a list for every 1,000 keys
 * @param connections as many as a client of S3 opens
 */
export function slowStore(below: ObjectStore, waitMs: number, connections = 50): SlowStore {
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
      const [answer] = await Promise.all([ask(), new Promise((resolve) => setTimeout(resolve, waitMs))]);
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
