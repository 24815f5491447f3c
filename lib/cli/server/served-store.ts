import { twoStores } from "../../front/heads/two-stores.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { openStore } from "../../storage/open-store.ts";
import type { ServeSettings } from "./serve-settings.ts";

/** What is served: one store, or a store and its copy elsewhere, for when one of them cannot be reached. */
export async function servedStore({ store, storeCopy, s3Endpoint }: ServeSettings): Promise<ObjectStore> {
  const first = await openStore(store, { s3Endpoint });
  return storeCopy === undefined ? first : twoStores(first, await openStore(storeCopy, { s3Endpoint }));
}
