import { watch } from "chokidar";
import { loadDirectory } from "../directory.ts";
import type { ReadOptions } from "../read-config.ts";
import { createSnapshotCache, type SnapshotCache } from "./snapshot-cache.ts";

/**
 * The configuration of a folder, followed as its files change. What is no configuration is left out, and an invalid object
 * costs only itself. @see model-config 3.2
 */
export function createDirectoryStore(root: string, options: Omit<ReadOptions, "sourceOf"> = {}): SnapshotCache {
  return createSnapshotCache({
    name: root,
    async load() {
      const { configs, diagnostics } = await loadDirectory(root, options);
      return { value: configs, diagnostics };
    },
    async watch(onChange) {
      const watcher = watch(root, { ignoreInitial: true });
      watcher.on("all", onChange);
      await new Promise<void>((resolve) => watcher.once("ready", () => resolve()));
      return () => watcher.close();
    },
  });
}
