import { causeText } from "../base/cause-text.ts";
import { readShardState, writeShardState } from "../compile/collected/shard-state.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { KnownContent } from "./known-content.ts";
import { createOtherWriters } from "./other-writers.ts";
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
    /** As in `CollectorOptions`. */
    readonly writer?: string | undefined;
    readonly shared?: ((other: string) => void) | undefined;
  },
): CollectorHealth {
  const { store, source, troubled, writer, shared } = options;
  const others = createOtherWriters(writer);
  const trouble = createTrouble();
  let storeFailure = "";
  let reported = "";
  let saved: string | undefined;

  async function saveState(failure: string): Promise<void> {
    const before = others.last();
    const there = writer === undefined ? undefined : await readShardState(store, source);
    const other = others.see(there?.writer);
    if (other !== before) shared?.(other);
    const said = { ...(writer === undefined ? {} : { writer }), ...(other === "" ? {} : { otherWriter: other }) };
    await writeShardState(store, source, { asOfMs: pushes.totals().asOfMs, failure, ...said });
  }
  const failure = (): string => storeFailure || trouble.of(known.failures());
  async function save(): Promise<void> {
    if (!pushes.isFilled()) return;
    saved = failure();
    // A process that cannot write the state cannot write the shard either, and that is reported.
    await saveState(saved).catch(() => {});
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
