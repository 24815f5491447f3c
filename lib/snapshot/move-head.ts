import type { ObjectStore } from "../storage/object-store.ts";
import { blobKey, headKey, jsonBlob } from "./blob.ts";
import type { ReadHead } from "./head.ts";
import type { Canary, Head, Publication, PublicationReason, Step } from "./root.ts";

/** What HEAD is to say next. */
export interface HeadChange {
  readonly steps: readonly Step[];
  readonly canary?: Canary | undefined;
  readonly reason: PublicationReason;
}

/**
 * Moves HEAD if it still is what `base` says, and adds the move to the history. The publication is written first, so that the
 * chain never has a hole; one whose HEAD was lost hangs in the air until it is collected.
 *
 * @returns undefined when somebody else was faster
 */
export async function moveHead(
  store: ObjectStore,
  base: ReadHead | undefined,
  change: HeadChange,
  nowMs: number,
): Promise<{ readonly head: Head; readonly bytes: number } | undefined> {
  const { steps, canary, reason } = change;
  const generation = (base?.head.generation ?? 0) + 1;
  const publication: Publication = {
    generation,
    root: steps.at(-1)?.root ?? "",
    parent: base?.head.publication ?? "",
    at: new Date(nowMs).toISOString(),
    reason,
  };
  const blob = jsonBlob(publication);
  await store.put(blobKey(blob.hash), blob.bytes, { ifNoneMatch: "*" });
  const head: Head = { generation, publication: blob.hash, steps, ...(canary === undefined ? {} : { canary }) };
  const bytes = new TextEncoder().encode(JSON.stringify(head));
  const put = await store.put(headKey, bytes, base === undefined ? { ifNoneMatch: "*" } : { ifMatch: base.etag });
  return put.kind === "lost" ? undefined : { head, bytes: bytes.length + blob.bytes.length };
}
