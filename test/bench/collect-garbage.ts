import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// A new context sees the flag; this one was made before it.
setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Runs a full garbage collection, so that what follows pays for its own garbage only. */
export function collectGarbage(): void {
  collect();
}

/** MiB in use after a collection. */
export function heapMib(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
