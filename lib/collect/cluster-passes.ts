import { causeText } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import type { Pace } from "../registry/origin/retry.ts";

/** Writes something into a cluster, again and again. */
export interface ClusterPasses {
  /** Until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** @throws PortolanError where something was not written */
  once(): Promise<void>;
}

export interface ClusterPassesOptions {
  /** Milliseconds between passes that leave nothing to do; after others the pause grows. */
  readonly everyMs: number;
  readonly pace: Pace;
  /** Called with a reason that is another than before; with "" when all is well again. */
  readonly troubled: ((reason: string) => void) | undefined;
}

/** @param pass returns why something was not written, "" where all is as it should be; throws PortolanError where it cannot find out */
export function createClusterPasses(
  pass: () => Promise<string>,
  { everyMs, pace, troubled }: ClusterPassesOptions,
): ClusterPasses {
  let reported = "";
  return {
    async run(signal) {
      let failures = 0;
      while (!signal.aborted) {
        const reason = await pass().catch(causeText);
        if (signal.aborted) return;
        if (reason !== reported) troubled?.(reason);
        reported = reason;
        failures = reason === "" ? 0 : failures + 1;
        await pace.pause(failures === 0 ? everyMs : Math.max(everyMs, pace.backOff(failures)), signal);
      }
    },
    async once() {
      const reason = await pass();
      if (reason !== "") throw new PortolanError(reason);
    },
  };
}
