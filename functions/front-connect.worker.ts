/** The front at the edge, over REST, Connect and gRPC-Web. */
import { mountConnect } from "../lib/front/connect/mount.ts";
import { frontHandler, workerFront } from "./worker-front.ts";

export default frontHandler(workerFront(mountConnect));
