import { execFileSync } from "node:child_process";
import type { TestContext } from "vitest";
import { lacks } from "./skip.ts";

/**
 * Mounts a file system over a folder, in memory, that is full soon. Skips the test where that is not allowed. Whoever mounts it unmounts it.
 *
 * @param size as tmpfs writes it: `64k`
 */
export function mountSmallDisk(context: TestContext, folder: string, size: string): void {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    context.skip(lacks(false, "root and tmpfs, for a disk that fills up"));
  }
}
