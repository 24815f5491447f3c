import type { ObjectStore } from "../../storage/object-store.ts";
import { createCollectedReader } from "../collected/collected-shard.ts";
import { readShard } from "./read-shard.ts";
import type { ShardContent } from "./shard.ts";

/**
 * One source as it is now, or as it was in a version: others may be unreadable.
 *
 * @returns undefined for one that was never filled, or whose version is kept no more
 * @throws UnreadableSource
 */
export const readSource = async (
  store: ObjectStore,
  name: string,
  version?: string,
): Promise<ShardContent | undefined> =>
  (await readShard(store, name, version)) ?? (await createCollectedReader(store, name)(version));
