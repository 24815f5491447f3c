import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// A new context sees the flag; this one was made before it.
setFlagsFromString("--expose-gc");
const collect: (options?: { readonly type: "minor" }) => void = runInNewContext("gc");

/** Collects what nobody holds any more. Compiled code and its feedback go too. */
export const collectAll = (): void => collect();

/** Bytes of the heap that somebody holds. */
export function heldBytes(): number {
  collectAll();
  return process.memoryUsage().heapUsed;
}

/** Collects what died young, and leaves compiled code alone. */
export const collectYoung = (): void => collect({ type: "minor" });
