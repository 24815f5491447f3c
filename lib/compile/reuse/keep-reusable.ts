import { newestRoot, type ReadHead } from "../../snapshot/head/head.ts";
import { readStored, type StoredClasses } from "../../snapshot/reuse/read-stored.ts";
import type { Head } from "../../snapshot/root.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { ShardCompilers } from "../compile-files.ts";
import type { SourcesReader } from "../shards/read-sources.ts";
import { openReusable } from "./open-reusable.ts";
import type { ReusableResults } from "./reusable.ts";

/** A compile that is about to begin. */
export interface CompileStart {
  /** Undefined where nothing was ever published. */
  readonly base: ReadHead | undefined;
  readonly key: string;
  readonly compilers: ShardCompilers;
  readonly order: readonly string[];
}

/** Keeps the stored results that a process may reuse. */
export interface ReusableKeeper {
  /** Starts to read stored results, before the first compile of a memory: it takes as long as reading the sources. */
  readAhead(base: ReadHead | undefined): void;
  /**
   * The reusable results; looked for once per memory, since a memory that has compiled before has newer results. If there was a publish and
   * nothing of it can be reused, also the reason.
   */
  before(
    beginning: CompileStart,
  ): Promise<{ readonly reusable?: ReusableResults | undefined; readonly missed?: string }>;
  /** HEAD was moved to a root that contains all reused results. */
  moved(head: Head): void;
  /** From now on nothing is reused. */
  drop(): void;
}

/**
 * Stored results are safe while HEAD names a root that contains them. When another process has moved HEAD, they may be collected, so they
 * are dropped.
 */
export function createReusableKeeper(store: ObjectStore, readSources: SourcesReader): ReusableKeeper {
  let reusable: ReusableResults | undefined;
  let lookedFor: ShardCompilers | undefined;
  let publication: string | undefined;
  let ahead: { readonly root: string; readonly stored: Promise<StoredClasses | undefined> } | undefined;
  return {
    readAhead(base) {
      if (base === undefined || lookedFor !== undefined) return;
      const root = newestRoot(base.head);
      const stored = readStored(store, root);
      // `before` reports the error.
      stored.catch(() => {});
      ahead = { root, stored };
    },
    async before({ base, key, compilers, order }) {
      if (lookedFor !== compilers) {
        lookedFor = compilers;
        publication = base?.head.publication;
        reusable = undefined;
        if (base === undefined) return {};
        const shardsAt = (versions: Parameters<SourcesReader>[1]) => readSources(order, versions);
        const root = newestRoot(base.head);
        const stored = ahead?.root === root ? ahead.stored : readStored(store, root, key);
        ahead = undefined;
        const opened = await openReusable({ stored, key, shardsAt, viewsOf: compilers.viewsOf });
        if ("missed" in opened) return opened;
        ({ reusable } = opened);
      } else if (publication !== base?.head.publication) reusable = undefined;
      return { reusable };
    },
    moved(head) {
      publication = head.publication;
    },
    drop() {
      reusable = undefined;
    },
  };
}
