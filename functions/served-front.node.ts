/** The front as a process of `portolan serve`, which ends with the process that started it, however that ended. Its workers end with it. */
import cluster from "node:cluster";

if (cluster.isPrimary) {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  // Hearing of the end keeps nobody alive.
  process.channel?.unref();
}
await import("./server.node.ts");
