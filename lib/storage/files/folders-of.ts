import { byCodePoint } from "../../base/diagnostic.ts";

/** As `ObjectStore.folders`, of keys that are at hand. */
export function foldersOf(keys: Iterable<string>, prefix: string): readonly string[] {
  const names = new Set<string>();
  for (const key of keys) {
    const end = key.startsWith(prefix) ? key.indexOf("/", prefix.length) : -1;
    if (end !== -1) names.add(key.slice(prefix.length, end));
  }
  return [...names].sort(byCodePoint);
}
