import { collectAll } from "../collect-garbage.ts";

/** MiB in use after a full garbage collection. */
export function heapMib(): number {
  collectAll();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
