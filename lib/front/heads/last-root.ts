import { PortolanError } from "../../base/diagnostic.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { settledWithin } from "../../snapshot/worlds/load-cache.ts";

/** How long a store may take to give a root before the last one that it gave is made use of. */
const silentMs = 2_000;

/** A root, or the one before it. */
export interface RootAtHand {
  readonly loaded: LoadedRoot;
  /** The store does not give the one in force: whoever was served elsewhere may have more than this. */
  readonly isBehind: boolean;
}

/** The root that everybody was last served, for as long as the store is silent about the next. */
export interface LastRoot {
  /** @throws PortolanError when the root cannot be read, and there is none before it */
  orLast(hash: string): Promise<RootAtHand>;
  /** Whether there is a root to go on with. */
  isThere(): boolean;
  /** To be told of each root that was read for everybody. */
  served(loaded: LoadedRoot): void;
}

export function createLastRoot(reader: SnapshotReader, onError: (cause: unknown) => void): LastRoot {
  let last: LoadedRoot | undefined;
  return {
    async orLast(hash) {
      if (last?.hash === hash) return { loaded: last, isBehind: false };
      const root = reader.root(hash);
      if (last === undefined) return { loaded: await root, isBehind: false };
      root.catch(() => {});
      try {
        if (await settledWithin(root, silentMs)) return { loaded: await root, isBehind: false };
      } catch (cause) {
        if (!(cause instanceof PortolanError)) throw cause;
        onError(cause);
      }
      return { loaded: last, isBehind: true };
    },
    isThere: () => last !== undefined,
    served(loaded) {
      last = loaded;
    },
  };
}
