/** The front on one machine: serves the snapshots in a folder or a bucket. docs/run-on-one-machine.md lists the variables. */
import { runServer } from "../lib/cli/server/run-server.ts";

await runServer({ failed: (reason) => console.error(`portolan: ${reason}`) });
