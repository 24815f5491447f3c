/** The front as a process of `portolan serve`, which ends with the process that started it, however that ended. Its workers end with it. */
import cluster from "node:cluster";
import type { FrontNews } from "../lib/cli/serve/kept-front.ts";
import { runServer } from "../lib/cli/server/run-server.ts";

/** Whoever is gone hears nothing. */
const tell = (news: FrontNews) => process.send?.(JSON.stringify(news), () => {});

if (cluster.isPrimary) {
  process.on("message", () => tell({ kind: "alive" }));
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  await runServer({
    serving: () => tell({ kind: "serving" }),
    failed: (reason) => tell({ kind: "failed", reason }),
  });
  // Hearing of the end keeps nobody alive.
  process.channel?.unref();
} else {
  await runServer({ failed: (reason) => console.error(`portolan: ${reason}`) });
}
