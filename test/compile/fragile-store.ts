import { PortolanError } from "../../lib/base/diagnostic.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";

/** A store that fails from one write on, until it is mended. */
export interface FragileStore {
  readonly store: ObjectStore;
  /** Takes so many writes more. */
  readonly break: (after: number) => void;
  readonly mend: () => void;
  /** How many writes a job makes. */
  readonly writes: (job: () => Promise<unknown>) => Promise<number>;
}

/** @param sound where it keeps what it takes */
export function fragileStore(sound: ObjectStore): FragileStore {
  let writesLeft = Number.POSITIVE_INFINITY;
  const store: ObjectStore = {
    ...sound,
    async put(key, bytes, condition) {
      writesLeft -= 1;
      if (writesLeft < 0) throw new PortolanError(`the store took no more at ${key}`);
      return sound.put(key, bytes, condition);
    },
  };
  const mend = () => {
    writesLeft = Number.POSITIVE_INFINITY;
  };
  return {
    store,
    mend,
    break(after) {
      writesLeft = after;
    },
    async writes(job) {
      writesLeft = 1_000_000;
      await job();
      const count = 1_000_000 - writesLeft;
      mend();
      return count;
    },
  };
}
