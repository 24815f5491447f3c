import { type FSWatcher, watch } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isFileAbsent } from "../../base/cause-text.ts";

/** How often to look where the system cannot call back: its watches may be used up. */
const lookMs = 500;

/**
 * Watches an object of a file store: its own folder while it is young, then the one of its versions. Where the system has no
 * watch left to give, the files are looked at instead.
 *
 * @returns ends the watch
 */
export function watchPath(path: string, onChange: () => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let closed = false;

  const look = () => {
    if (closed || timer !== undefined) return;
    let seen: string | undefined;
    timer = setInterval(async () => {
      const before = seen;
      seen = await stampOf(path);
      if (!closed && before !== seen) onChange();
    }, lookMs);
    timer.unref();
  };
  const add = (folder: string) => {
    if (closed || watchers.has(folder)) return;
    try {
      const watcher = watch(folder, () => {
        add(`${path}#`);
        onChange();
      });
      watcher.on("error", () => {
        watcher.close();
        look();
      });
      watchers.set(folder, watcher);
    } catch (cause) {
      // The folder of versions comes with the second write; everything else is a system that gives no watch.
      if (!isFileAbsent(cause)) look();
    }
  };
  const start = () => {
    add(dirname(path));
    add(`${path}#`);
    onChange();
  };
  void mkdir(dirname(path), { recursive: true }).then(start, look);
  return () => {
    closed = true;
    clearInterval(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}

/** Differs after every write. */
async function stampOf(path: string): Promise<string> {
  const versions = await readdir(`${path}#`).catch(() => []);
  const info = await stat(path).catch(() => undefined);
  return `${info?.ino} ${info?.mtimeMs} ${versions.sort().join()}`;
}
