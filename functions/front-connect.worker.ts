/** The front at the edge, over REST, Connect and gRPC-Web. */
import { mountConnect } from "../lib/front/connect/mount.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { type FrontEnv, workerFront } from "./worker-front.ts";

const appFor = workerFront(mountConnect);
const rates = createRateLimiter(console.error);

export default {
  fetch: async (request: Request, env: FrontEnv) =>
    (await rates.turnedAway(request, env.RATE_LIMIT)) ?? appFor(env).fetch(request, env),
};
