import { blobKey, hashOf } from "../../base/blob.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { StageCondition } from "../root.ts";

/** A gate; undefined for one that is missing or damaged: its step waits for the time. */
export async function readStageCondition(
  store: Pick<ObjectStore, "get">,
  hash: string,
): Promise<StageCondition | undefined> {
  const found = await store.get(blobKey(hash));
  if (found.kind !== "found" || hashOf(found.bytes) !== hash) return undefined;
  return JSON.parse(new TextDecoder().decode(found.bytes));
}
