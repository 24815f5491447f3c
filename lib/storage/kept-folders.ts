import { mkdir, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** More would be folders that were used once, such as those of versions. */
const maxKnown = 4_096;

/**
 * Makes folders below a root so that they are there after a power failure too: a folder's name lies in the one above it, and is
 * written when that one is.
 *
 * @param durable false leaves out what only a power failure would show
 */
export function createFolderKeeper(root: string, durable: boolean) {
  const top = resolve(root);
  /** Folders whose names were written since this process began; another process that made one may not have come so far. */
  const known = new Set<string>();
  return {
    /** Makes a folder with all above it. */
    async make(path: string): Promise<void> {
      const made = await mkdir(path, { recursive: true });
      if (!durable) return;
      if (known.size > maxKnown) known.clear();
      const first = made === undefined ? undefined : resolve(made);
      // All of them lie above one another, so the longer name is the one below.
      const isNew = (folder: string) => first !== undefined && folder.length >= first.length;
      for (let folder = resolve(path); isNew(folder) || folder.length > top.length; folder = dirname(folder)) {
        if (known.has(folder) && !isNew(folder)) continue;
        await syncFolder(dirname(folder));
        known.add(folder);
      }
    },
    /** Writes the names of what lies in a folder. */
    async keep(folder: string): Promise<void> {
      if (durable) await syncFolder(folder);
    },
  };
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
