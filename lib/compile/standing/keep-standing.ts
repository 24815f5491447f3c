import { newestRoot, type ReadHead } from "../../snapshot/head/head.ts";
import type { Head } from "../../snapshot/root.ts";
import { readStored, type StoredClasses } from "../../snapshot/standing/read-stored.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { ShardCompilers } from "../compile-files.ts";
import type { SourcesReader } from "../shards/read-sources.ts";
import { openStanding } from "./open-standing.ts";
import type { Standing } from "./standing.ts";

/** A compile that is about to begin. */
export interface Beginning {
  /** Undefined where nothing was ever published. */
  readonly base: ReadHead | undefined;
  readonly key: string;
  readonly compilers: ShardCompilers;
  readonly order: readonly string[];
}

/** Knows what of the newest publish a process may take as it lies in the store. */
export interface StandingKeeper {
  /** Begins to read what may stand, in a memory that has compiled nothing yet: it takes as long as reading the sources does. */
  readAhead(base: ReadHead | undefined): void;
  /**
   * What stands; looked for once for each memory, since a memory that has compiled before knows better. Where there was a publish, and nothing
   * of it can be taken, also why.
   */
  before(beginning: Beginning): Promise<{ readonly standing?: Standing | undefined; readonly missed?: string }>;
  /** HEAD was moved, and names a root that has all that stood. */
  moved(head: Head): void;
  /** From now on everything is made. */
  drop(): void;
}

/**
 * What stands is safe while HEAD names a root that has it. So it is given up when somebody else has moved HEAD: what it names then, and what
 * of the rest is collected, nobody here knows.
 */
export function createStandingKeeper(store: ObjectStore, readSources: SourcesReader): StandingKeeper {
  let standing: Standing | undefined;
  let lookedFor: ShardCompilers | undefined;
  let publication: string | undefined;
  let ahead: { readonly root: string; readonly stored: Promise<StoredClasses | undefined> } | undefined;
  return {
    readAhead(base) {
      if (base === undefined || lookedFor !== undefined) return;
      const root = newestRoot(base.head);
      const stored = readStored(store, root);
      // Whoever wants it hears of that.
      stored.catch(() => {});
      ahead = { root, stored };
    },
    async before({ base, key, compilers, order }) {
      if (lookedFor !== compilers) {
        lookedFor = compilers;
        publication = base?.head.publication;
        standing = undefined;
        if (base === undefined) return {};
        const shardsAt = (versions: Parameters<SourcesReader>[1]) => readSources(order, versions);
        const root = newestRoot(base.head);
        const stored = ahead?.root === root ? ahead.stored : readStored(store, root, key);
        ahead = undefined;
        const opened = await openStanding({ stored, key, shardsAt, viewsOf: compilers.viewsOf });
        if ("missed" in opened) return opened;
        ({ standing } = opened);
      } else if (publication !== base?.head.publication) standing = undefined;
      return { standing };
    },
    moved(head) {
      publication = head.publication;
    },
    drop() {
      standing = undefined;
    },
  };
}
