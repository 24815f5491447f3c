/** A thread of a compile function on Node, which compiles slices of a world's classes. */
import { runSliceThread } from "../lib/cli/serve/slice-thread.ts";

await runSliceThread();
