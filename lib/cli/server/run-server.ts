import pino from "pino";
import { PortolanError } from "../../base/diagnostic.ts";
import { type ServingFront, serveFront } from "./serve-front.ts";
import { settingsFromEnvironment } from "./serve-settings.ts";

/** Who hears how the front fares. */
export interface Hearer {
  /** Connections are taken. */
  readonly serving?: () => void;
  /** It cannot serve, for a reason that a setting or the machine is to blame for. */
  readonly failed: (reason: string) => void;
}

/** The front that the environment describes, until a signal says stop. */
export async function runServer({ serving, failed }: Hearer): Promise<void> {
  let front: ServingFront | undefined;
  let isEnding = false;
  // Before anything serves: the first of several workers does so while others are still starting.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      isEnding = true;
      void front?.close();
    });
  }
  try {
    front = await serveFront(settingsFromEnvironment(process.env), pino(), () => isEnding);
    if (isEnding) await front.close();
    else serving?.();
  } catch (cause) {
    // What a setting or the machine is to blame for needs no trace.
    if (!(cause instanceof PortolanError)) throw cause;
    failed(cause.message);
    process.exitCode = 1;
  }
}
