import { closeSync, fstatSync, fsync, open, read, unlink, write } from "node:fs";
import { promisify } from "node:util";

// Node's calls with file descriptors cost half of what those of `node:fs/promises` do, which make an object of each open file; a mesh of
// a thousand services lies in five thousand files. What never waits for a disk, such as closing a file that was read or synced, is done at once:
// a way to another thread and back would cost more.
const opened = promisify(open);
const synced = promisify(fsync);
const unlinked = promisify(unlink);

/** The bytes of a file, in a buffer of their own, and when they were written. */
export async function readWithTime(
  path: string,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly modifiedMs: number }> {
  const file = await opened(path, "r");
  try {
    const { mtimeMs, size } = fstatSync(file);
    return { bytes: await readBytes(file, new Uint8Array(size)), modifiedMs: mtimeMs };
  } finally {
    closeSync(file);
  }
}

/** As many as there are: a file that was cut short meanwhile gives fewer. */
async function readBytes(file: number, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  let at = 0;
  while (at < bytes.length) {
    const count = await readInto(file, bytes, at);
    if (count === 0) return bytes.slice(0, at);
    at += count;
  }
  return bytes;
}

const readInto = (file: number, bytes: Uint8Array, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    read(file, bytes, at, bytes.length - at, at, (error, count) => (error === null ? resolve(count) : reject(error)));
  });

/** Writes a file that is not there yet. @param durable so that it is there after a power failure */
export async function writeNew(path: string, bytes: Uint8Array, durable: boolean): Promise<void> {
  const file = await opened(path, "wx");
  try {
    for (let at = 0; at < bytes.length; ) at += await writeFrom(file, bytes, at);
    if (durable) await synced(file);
  } finally {
    closeSync(file);
  }
}

const writeFrom = (file: number, bytes: Uint8Array, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(file, bytes, at, bytes.length - at, at, (error, count) => (error === null ? resolve(count) : reject(error)));
  });

/** When a file was written that is written now, empty, and is gone then. */
export async function timeOfNew(path: string): Promise<number> {
  const file = await opened(path, "wx");
  try {
    return fstatSync(file).mtimeMs;
  } finally {
    closeSync(file);
    await unlinked(path);
  }
}

/** Writes the names that a folder holds to the disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await opened(path, "r");
  try {
    await synced(folder);
  } finally {
    closeSync(folder);
  }
}
