import { causeText } from "../base/cause-text.ts";
import { writeShardState } from "../compile/collected/shard-state.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { KnownContent } from "./known-content.ts";
import type { SourcePushes } from "./source-pushes.ts";
import { createTrouble } from "./trouble.ts";

/** What is wrong with a collector, for people and for the state beside its shard. */
export interface CollectorHealth {
  /** "" while nothing is wrong. */
  failure(): string;
  /** Does something with the store, and remembers why it failed. @returns whether it did not */
  attempt(work: () => Promise<void>): Promise<boolean>;
  /** Reports a failure that is another than before, and saves it. */
  report(): Promise<void>;
  /** Writes the state beside the shard, once the shard is filled. */
  save(): Promise<void>;
}

export function createCollectorHealth(
  known: KnownContent,
  pushes: SourcePushes,
  options: {
    readonly store: ObjectStore;
    readonly source: string;
    /** Called when something begins to go wrong, or is otherwise wrong than before; with "" when all is well again. */
    readonly troubled?: (reason: string) => void;
  },
): CollectorHealth {
  const { store, source, troubled } = options;
  const trouble = createTrouble();
  let storeFailure = "";
  let reported = "";
  let saved: string | undefined;

  const failure = (): string => storeFailure || trouble.of(known.failures());
  async function save(): Promise<void> {
    if (!pushes.isFilled()) return;
    saved = failure();
    // A process that cannot write the state cannot write the shard either, and that is reported.
    await writeShardState(store, source, { asOfMs: pushes.totals().asOfMs, failure: saved }).catch(() => {});
  }
  return {
    failure,
    async attempt(work) {
      try {
        await work();
        storeFailure = "";
        return true;
      } catch (cause) {
        storeFailure = causeText(cause);
        return false;
      }
    },
    async report() {
      const now = failure();
      if (now !== reported) {
        reported = now;
        troubled?.(now);
      }
      if (now !== saved) await save();
    },
    save,
  };
}
