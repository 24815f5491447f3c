import { readFiles } from "../config/folder/directory.ts";
import { readFolder, watchFolder } from "../config/folder/folder.ts";
import type { ReadOptions } from "../config/read-config.ts";
import { createSnapshotCache, type SnapshotCache } from "./snapshot-cache.ts";

/**
 * The configuration of a folder, followed as its files change. What is no configuration is left out, and an invalid object
 * costs only itself.
 * @see docs/how-istio-does-it/config-stores.md#a-folder-as-a-store
 */
export function createDirectoryStore(root: string, options: Omit<ReadOptions, "sourceOf"> = {}): SnapshotCache {
  return createSnapshotCache({
    name: root,
    async load() {
      const { configs, diagnostics } = readFiles(await readFolder(root), options);
      return { value: configs, diagnostics };
    },
    watch: (onChange) => watchFolder(root, onChange),
  });
}
