import { paceOf } from "../../snapshot/head/plan-stages.ts";
import { createPublisher, type Publisher, type PublisherOptions } from "../../snapshot/publish.ts";
import type { WorldEncoder } from "../../snapshot/worlds/encode-world.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** One publisher for as long as the pace stays: it remembers what the next publish is compared with. */
export function createPublishers(store: ObjectStore, encoder: WorldEncoder, options: PublisherOptions = {}) {
  let known: { readonly pollDelayMs: number | undefined; readonly publisher: Publisher } | undefined;
  let hasPublished = false;
  return {
    of(pollDelayMs: number | undefined): Publisher {
      if (known !== undefined && known.pollDelayMs === pollDelayMs) return known.publisher;
      const pace = options.pace ?? (pollDelayMs === undefined ? undefined : paceOf(pollDelayMs));
      const publisher = createPublisher(store, { ...options, ...(pace === undefined ? {} : { pace }) }, encoder);
      known = { pollDelayMs, publisher };
      return publisher;
    },
    remembers(): void {
      hasPublished = true;
    },
    /** The next one reads what it compares with. @returns whether there was anything to forget */
    forget(): boolean {
      const had = hasPublished;
      known = undefined;
      hasPublished = false;
      return had;
    },
  };
}
