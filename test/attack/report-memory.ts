/** Preloaded into a server under attack: collects garbage and says what is left, whenever its parent asks. */
import { setTimeout as sleep } from "node:timers/promises";
import { collectAll } from "../collect-garbage.ts";

/** What a process has, in bytes, when nothing is left to collect. */
export interface Memory {
  readonly rss: number;
  /** Heap and buffers that something still holds. */
  readonly held: number;
}

process.on("message", async () => {
  // What finalizers let go of, the second finds.
  for (let times = 0; times < 2; times += 1) {
    collectAll();
    await sleep(100);
  }
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  process.send?.({ rss, held: heapUsed + arrayBuffers } satisfies Memory);
});
process.channel?.unref();
// Nobody is left to stop it.
process.on("disconnect", () => process.exit());
