/** A thread of a compile function on Node, which writes what the compile has made while it makes the rest. */
import { runPrewriteThread } from "../lib/cli/serve/start-prewrite-thread.ts";

await runPrewriteThread();
