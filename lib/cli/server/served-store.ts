import { twoStores } from "../../front/heads/two-stores.ts";
import { readTrusted } from "../../snapshot/head/signing-keys.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { openStore } from "../../storage/open-store.ts";
import type { ServeSettings } from "./serve-settings.ts";

/** What is served: one store, or a store and its copy elsewhere, for when one of them cannot be reached. */
export async function servedStore(settings: ServeSettings): Promise<ObjectStore> {
  const { store, storeCopy, s3Endpoint, trustedKeys } = settings;
  // Who publishes begins a store: one that was taken away is not to come back with a front's records alone.
  const open = (where: string) => openStore(where, { s3Endpoint, isThere: true });
  const first = await open(store);
  if (storeCopy === undefined) return first;
  return twoStores(first, await open(storeCopy), readTrusted(trustedKeys, "PORTOLAN_TRUSTED_KEYS"));
}
