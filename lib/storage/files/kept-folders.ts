import { dirname, resolve } from "node:path";
import { syncFolder } from "./file-calls.ts";
import { makeFolders } from "./make-folders.ts";

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
  /** Folders that are there, whose names were written since this process began; another process that made one may not have come so far. */
  const known = new Set<string>();
  const keep = createKeeper();
  /** Folders that are being made, for all who are about to put something into one. */
  const underWay = new Map<string, Promise<void>>();
  /** Makes a folder with all above it. */
  const makeAgain = async (path: string): Promise<void> => {
    const made = await makeFolders(path);
    if (known.size > maxKnown) known.clear();
    const first = made === undefined ? undefined : resolve(made);
    // All of them lie above one another, so the longer name is the one below.
    const isNew = (folder: string) => first !== undefined && folder.length >= first.length;
    for (let folder = resolve(path); isNew(folder) || folder.length > top.length; folder = dirname(folder)) {
      if (known.has(folder) && !isNew(folder)) continue;
      if (durable) await keep(dirname(folder));
      known.add(folder);
    }
  };
  return {
    makeAgain,
    /** The same, unless this process has seen it there: it may have been taken away since. */
    async make(path: string): Promise<void> {
      const folder = resolve(path);
      if (known.has(folder)) return;
      const making = underWay.get(folder) ?? makeAgain(folder).finally(() => underWay.delete(folder));
      underWay.set(folder, making);
      await making;
    },
    /** Writes the names of what lies in a folder. */
    async keep(folder: string): Promise<void> {
      if (durable) await keep(folder);
    },
  };
}

/** Many who have put something into a folder at once share a write of its names: one that begins after all of them have. */
function createKeeper(): (folder: string) => Promise<void> {
  const underWay = new Map<string, Promise<void>>();
  const toCome = new Map<string, Promise<void>>();
  const begin = (folder: string): Promise<void> => {
    toCome.delete(folder);
    const sync = syncFolder(folder).finally(() => {
      if (underWay.get(folder) === sync) underWay.delete(folder);
    });
    underWay.set(folder, sync);
    return sync;
  };
  return (folder) => {
    const waiting = toCome.get(folder);
    if (waiting !== undefined) return waiting;
    const before = underWay.get(folder);
    if (before === undefined) return begin(folder);
    const next = before.then(
      () => begin(folder),
      () => begin(folder),
    );
    toCome.set(folder, next);
    return next;
  };
}
