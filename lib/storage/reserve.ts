import { open, rm, stat } from "node:fs/promises";

/** Enough for announcing a deletion, and for HEAD to move, on a disk that has no other room. */
const reserveBytes = 128 * 1024;

/**
 * Lays something by for when the disk is full, where there is room: then things can be deleted, which takes a little writing.
 * A disk that has no room for it has none for anything else.
 */
export async function layReserve(path: string): Promise<void> {
  const there = await stat(path).catch(() => undefined);
  if (there?.size === reserveBytes) return;
  try {
    const file = await open(path, "w");
    try {
      // No file system makes a hole of it, or presses it together to nothing.
      await file.writeFile(crypto.getRandomValues(new Uint8Array(65_536)));
      await file.writeFile(crypto.getRandomValues(new Uint8Array(reserveBytes - 65_536)));
    } finally {
      await file.close();
    }
  } catch {
    await rm(path, { force: true }).catch(() => {});
  }
}
