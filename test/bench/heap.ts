import { heldBytes } from "../collect-garbage.ts";

/** MiB in use after a full garbage collection. */
export const heapMib = (): number => heldBytes() / 2 ** 20;
