/** The front at the edge, over REST, Connect and gRPC-Web. */
import { mountConnect } from "../lib/front/connect/mount.ts";
import { type FrontEnv, workerFront } from "./worker-front.ts";

const appFor = workerFront(mountConnect);

export default {
  fetch: (request: Request, env: FrontEnv) => appFor(env).fetch(request, env),
};
