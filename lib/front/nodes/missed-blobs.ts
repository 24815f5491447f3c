import { forwardClock } from "../../base/forward-clock.ts";
import { missedBlobKey } from "../../snapshot/nodes/wanted.ts";
import type { WantedOptions } from "./wanted-classes.ts";

/** A compile looks at all that is served, so that one report is enough for any number of blobs. */
const againMs = 60_000;

/**
 * Has the compiler look whether the store still has all that is served, when a blob turns out to be missing or damaged.
 *
 * @returns takes the blob's hash; does nothing for a minute after a report
 */
export function createMissedBlobs({ store, now, trigger, onError }: WantedOptions): (hash: string) => void {
  const agedMs = forwardClock(now);
  let reportedMs = Number.NEGATIVE_INFINITY;

  async function report(hash: string): Promise<void> {
    const bytes = new TextEncoder().encode(hash);
    const written = await store.put(missedBlobKey, bytes, { ifNoneMatch: "*" });
    if (written.kind === "stored") await trigger();
  }

  return (hash) => {
    if (agedMs() - reportedMs < againMs) return;
    reportedMs = agedMs();
    report(hash).catch(onError);
  };
}
