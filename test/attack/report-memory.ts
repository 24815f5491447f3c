/** Preloaded into a server under attack: collects garbage and says what is left, whenever its parent asks. */
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What a process has, in bytes, when nothing is left to collect. */
export interface Memory {
  readonly rss: number;
  /** Heap and buffers that something still holds. */
  readonly held: number;
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

process.on("message", async () => {
  // What finalizers let go of, the second finds.
  for (let times = 0; times < 2; times += 1) {
    collect();
    await sleep(100);
  }
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  process.send?.({ rss, held: heapUsed + arrayBuffers } satisfies Memory);
});
process.channel?.unref();
// Nobody is left to stop it.
process.on("disconnect", () => process.exit());
