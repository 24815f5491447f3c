import { hashOf } from "../../base/blob.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { collectedKeys } from "../collected/shard-head.ts";
import { listKey } from "./source-shard.ts";

/** Whether any of these sources is another one by now than when it was read. */
export async function haveChangedSince(store: ObjectStore, sources: readonly CompiledSource[]): Promise<boolean> {
  const changed = await Promise.all(
    sources.map(async ({ name, version }) => {
      const list = await store.get(listKey(name));
      const found = list.kind === "found" ? list : await store.get(collectedKeys.head(name));
      return found.kind === "found" && hashOf(found.bytes) !== version;
    }),
  );
  return changed.includes(true);
}
