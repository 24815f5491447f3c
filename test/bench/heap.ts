import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// A new context sees the flag; this one was made before it.
setFlagsFromString("--expose-gc");
const collect: (options?: { readonly type: "minor" }) => void = runInNewContext("gc");

/** Collects what died young, and leaves compiled code and its feedback alone, which a full collection throws away. */
export function collectYoung(): void {
  collect({ type: "minor" });
}

/** MiB in use after a full garbage collection. */
export function heapMib(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
