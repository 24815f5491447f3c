/** The front at the edge: serves the snapshots in an R2 bucket over REST, without the compiler. */
import { createRateLimiter } from "./rate-limit.ts";
import { type FrontEnv, workerFront } from "./worker-front.ts";

const appFor = workerFront();
const rates = createRateLimiter(console.error);

export default {
  fetch: async (request: Request, env: FrontEnv) =>
    (await rates.turnedAway(request, env.RATE_LIMIT)) ?? appFor(env).fetch(request, env),
};
