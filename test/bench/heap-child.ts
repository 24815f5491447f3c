/** Programs of benchmarks that run in a heap of a given size, to see whether it suffices. */
import { spawnSync } from "node:child_process";

/** @param heapMib of the old space @returns what it has printed; undefined where it has ended for lack of heap, or otherwise failed */
export function printedIn(heapMib: number, program: string, args: readonly string[]): string | undefined {
  const run = spawnSync(process.execPath, [`--max-old-space-size=${heapMib}`, program, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return run.status === 0 ? run.stdout : undefined;
}
