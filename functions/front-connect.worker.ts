/** The front at the edge, over REST, Connect and gRPC-Web. */
import { mountConnect } from "../lib/front/connect/mount.ts";
import { turnedAway } from "./rate-limit.ts";
import { type FrontEnv, workerFront } from "./worker-front.ts";

const appFor = workerFront(mountConnect);

export default {
  fetch: async (request: Request, env: FrontEnv) =>
    (await turnedAway(request, env.RATE_LIMIT)) ?? appFor(env).fetch(request, env),
};
