import { Hono } from "hono/tiny";
import type { Front } from "./front.ts";
import { problem } from "./polls/responses.ts";

/**
 * What orchestrators and load balancers ask. `/livez` is 200 while this process answers; `/readyz` is 200 while it can answer polls, else
 * 503 with the reason. Both are open to everybody and say nothing of the mesh.
 */
export function probesApp(front: Pick<Front, "readiness">): Hono {
  const app = new Hono();
  app.get("/livez", (c) => c.text("ok\n"));
  app.get("/readyz", async (c) => {
    const readiness = await front.readiness();
    return readiness.isReady ? c.text("ok\n") : problem(503, readiness.reason);
  });
  return app;
}
