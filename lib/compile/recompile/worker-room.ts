import type { Room } from "./recompiled.ts";

/**
 * An isolate of Cloudflare Workers has 128 MB: a mesh of 400 services is held and remembered in them, and the answers of one of 1,000 are
 * made in four slices. `npm run bench -- worker` measures that.
 */
export const workerRoom: Room = {
  wholeBytes: 2 * 2 ** 20,
  sliceBytes: 2 * 2 ** 20,
  analyzedBytes: 8 * 2 ** 20,
};
