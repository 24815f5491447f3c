/** The front at the edge: serves the snapshots in an R2 bucket over REST, without the compiler. */
import { frontHandler, workerFront } from "./worker-front.ts";

export default frontHandler(workerFront());
