/** The front at the edge: serves the snapshots in an R2 bucket over REST, without the compiler. */
import { type FrontEnv, workerFront } from "./worker-front.ts";

const appFor = workerFront();

export default {
  fetch: (request: Request, env: FrontEnv) => appFor(env).fetch(request, env),
};
