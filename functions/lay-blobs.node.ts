/** A thread of a compile function on Node, which writes what the compile has made while it makes the rest. */
import { runLayThread } from "../lib/cli/serve/lay-thread.ts";

await runLayThread();
