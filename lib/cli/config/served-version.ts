import { isRegistryKey } from "../../config/folder/planes.ts";
import type { RootSource } from "../../snapshot/root.ts";

/**
 * The version of a source that a root has an object from: configuration may be held at another one than services and endpoints.
 *
 * @param sources of the root
 * @param key of the object
 * @returns undefined where the root has nothing of it
 */
export function versionOf(sources: readonly RootSource[], source: string, key: string): string | undefined {
  const found = sources.find(({ name }) => name === source);
  const version = isRegistryKey(key) ? found?.version : (found?.configuration ?? found?.version);
  return version === "" ? undefined : version;
}
