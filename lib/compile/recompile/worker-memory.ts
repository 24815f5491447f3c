import type { MemoryLimits } from "./recompiled.ts";

/**
 * An isolate of Cloudflare Workers has 128 MB: a mesh of 400 services is held and remembered in them, and the answers of one of 1,000 are
 * made in four slices, and analysed. `npm run bench -- worker` measures that. One of 1,270 services, of 7.7 MiB, is not compiled.
 */
export const workerMemory: MemoryLimits = {
  wholeBytes: 2 * 2 ** 20,
  sliceBytes: 2 * 2 ** 20,
  analyzedBytes: 6.5 * 2 ** 20,
};
