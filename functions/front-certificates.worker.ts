/** The front at the edge, over REST, Connect and gRPC-Web, which also signs workloads' certificates. */
import { openAuthority } from "../lib/ca/open-authority.ts";
import { mountConnect } from "../lib/front/connect/mount.ts";
import { frontHandler, workerFront } from "./worker-front.ts";

export default frontHandler(workerFront(mountConnect, openAuthority));
