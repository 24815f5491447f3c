import { PortolanError } from "../../base/diagnostic.ts";
import { sourceNames } from "../../compile/shards/source-names.ts";
import { meantText } from "../../config/nearest-names.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** @throws PortolanError for a source that the store does not have, with those that it has */
export async function refuseUnknownSource(store: ObjectStore, source: string): Promise<void> {
  const names = await sourceNames(store);
  if (names.includes(source)) return;
  const all = names.length === 0 ? "; this store has none" : `; there are: ${names.join(", ")}`;
  throw new PortolanError(`there is no source ${JSON.stringify(source)}${meantText(source, names) || all}`);
}
