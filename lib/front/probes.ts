import type { Front } from "./front.ts";
import { problem, textAnswer } from "./requests/answer.ts";
import { plain, type Route } from "./requests/routes.ts";

/**
 * What orchestrators and load balancers ask. `/livez` is 200 while this process answers; `/readyz` is 200 while it can answer polls, else
 * 503 with the reason. Both are open to everybody and say nothing of the mesh.
 */
export const probeRoutes = (front: Pick<Front, "readiness">): readonly Route[] => [
  { method: "GET", path: "/livez", to: plain(() => textAnswer("ok\n")) },
  {
    method: "GET",
    path: "/readyz",
    to: plain(async () => {
      const readiness = await front.readiness();
      return readiness.isReady ? textAnswer("ok\n") : problem(503, readiness.reason);
    }),
  },
];
