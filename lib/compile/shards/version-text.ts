import { sha256 } from "../../config/canonical-json.ts";
import type { FoundObject, GetResult, ObjectStore } from "../../storage/object-store.ts";

/**
 * What names a source's content, as it was in a version: what is kept under the version's own name, or what lies there now where that is
 * the version still, and its own name was collected.
 *
 * @returns undefined where it is kept no more; a text of another hash is not the version
 */
export async function versionText(
  store: ObjectStore,
  keys: { readonly present: string; readonly kept: string },
  version: string,
): Promise<FoundObject | undefined> {
  const kept = await store.get(keys.kept);
  if (isVersion(kept, version)) return kept;
  const present = await store.get(keys.present);
  return isVersion(present, version) ? present : undefined;
}

const isVersion = (found: GetResult, version: string): found is FoundObject =>
  found.kind === "found" && sha256(new TextDecoder().decode(found.bytes)) === version;
