/** Programs of benchmarks that run in a heap of a given size, to see whether it suffices. */
import { spawnSync } from "node:child_process";

/** Beside the old space V8 takes as much as 192 MiB for young objects; of a whole heap they have their share. */
type HeapPart = "old-space" | "heap";

/** @param heapMib of the part @returns what it has printed; undefined where it has ended for lack of heap, or otherwise failed */
export function printedIn(
  heapMib: number,
  program: string,
  args: readonly string[],
  part: HeapPart = "old-space",
): string | undefined {
  const run = spawnSync(process.execPath, [`--max-${part}-size=${heapMib}`, program, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return run.status === 0 ? run.stdout : undefined;
}
