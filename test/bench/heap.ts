import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// A new context sees the flag; this one was made before it.
setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** MiB in use after a full garbage collection. */
export function heapMib(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
