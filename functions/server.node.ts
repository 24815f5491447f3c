/** The front on one machine: serves the snapshots in a folder or a bucket. docs/run-on-one-machine.md lists the variables. */
import pino from "pino";
import { serveFront } from "../lib/cli/server/serve-front.ts";
import { settingsFromEnvironment } from "../lib/cli/server/serve-settings.ts";
import { PortolanError } from "../lib/config/diagnostic.ts";

try {
  const serving = await serveFront(settingsFromEnvironment(process.env), pino());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void serving.close());
} catch (cause) {
  // What a setting or the machine is to blame for needs no trace.
  if (!(cause instanceof PortolanError)) throw cause;
  console.error(`portolan: ${cause.message}`);
  process.exitCode = 1;
}
