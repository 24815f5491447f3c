import { PortolanError } from "../base/diagnostic.ts";
import { rootAt } from "../snapshot/head/head.ts";
import type { SnapshotReader } from "../snapshot/reader/snapshot-reader.ts";
import { settledWithin } from "../snapshot/worlds/load-cache.ts";
import { createElapsed } from "./heads/head-clock.ts";
import type { Heads } from "./heads/heads.ts";
import { whyUnread } from "./why-unread.ts";

/**
 * Whether a front can answer polls from the snapshot in force. A reason may be read by anybody: it says nothing of the mesh.
 *
 * `servesOlder`: it goes on with the snapshot before that one, for polls alone, and refuses those that may have something newer.
 */
export type Readiness =
  | { readonly isReady: true }
  | { readonly isReady: false; readonly reason: string; readonly servesOlder: boolean };

export interface ReadinessOptions {
  readonly heads: Heads;
  readonly reader: Pick<SnapshotReader, "root">;
  /** Whether a snapshot from before is at hand. */
  readonly hasOlder: () => boolean;
  readonly now: () => number;
  /** Told why a root cannot be read, once for each root. */
  readonly onError: (cause: unknown) => void;
}

/** One look at a root, for all who ask within a second. */
interface Look {
  readonly root: string;
  readonly sinceMs: () => number;
  /** Why the root cannot be read; undefined where it can. */
  readonly trouble: Promise<string | undefined>;
}

const lookEveryMs = 1_000;

/** How long a store may take to give a root before the front counts as not ready. */
const silentMs = 2_000;

const headUnread = "HEAD cannot be read, or is not trusted; see the log";

const ready: Readiness = { isReady: true };

/**
 * Says whether polls can be answered: HEAD was read and is believed, and the root in force for everybody can be read.
 *
 * Anybody may ask, so a look costs the store no more than polls do: HEAD comes from the front's memory for its time to live, and a root
 * is looked at once a second at most, however many ask and whatever came of it.
 */
export function createReadiness({ heads, reader, hasOlder, now, onError }: ReadinessOptions): () => Promise<Readiness> {
  let last: Look | undefined;
  let reported: string | undefined;

  async function troubleOf(root: string): Promise<string | undefined> {
    try {
      await reader.root(root);
      reported = undefined;
      return undefined;
    } catch (cause) {
      if (reported !== root) onError(cause);
      reported = root;
      return `the snapshot in force cannot be read: ${cause instanceof PortolanError ? whyUnread(cause) : "see the log"}`;
    }
  }

  function lookAt(root: string): Look {
    if (last?.root !== root || last.sinceMs() >= lookEveryMs)
      last = { root, sinceMs: createElapsed(now), trouble: troubleOf(root) };
    return last;
  }

  return async () => {
    if (heads.isClosed()) return notReady("the server is shutting down");
    // Why HEAD cannot be read is logged where it is read.
    const head = await heads.current().catch(() => undefined);
    if (head === undefined) return notReady(heads.isDoubted() ? headUnread : "nothing was published yet");
    const { trouble } = lookAt(rootAt(head, heads.timeMs()));
    // At the edge a read ends unfinished with the request that began it.
    if (!(await settledWithin(trouble, silentMs))) return notReady("the store does not answer", hasOlder());
    const reason = await trouble;
    return reason === undefined ? ready : notReady(reason, hasOlder());
  };
}

const notReady = (reason: string, servesOlder = false): Readiness => ({ isReady: false, reason, servesOlder });
