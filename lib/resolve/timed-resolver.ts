import { causeText } from "../base/cause-text.ts";
import type { Log } from "../compile/telemetry/log.ts";
import type { Resolver } from "./resolver.ts";
import { logResolution, whyOf } from "./resolving-compiler.ts";

export interface TimedResolver {
  readonly resolve: Resolver;
  /** Looks up nothing by itself any more. */
  close(): void;
}

export interface TimedOptions {
  /** Between two runs that nobody asked for, in milliseconds. */
  readonly leastMs: number;
  /** So long others ask by themselves, in milliseconds: what is due later is theirs. */
  readonly othersMs: number;
  /** Has compiled what has changed. @param why as the history is to say it */
  readonly onChanged: (why: string) => void;
  readonly log: Log;
}

/**
 * A resolver that runs by itself when its next look-up is due, where that is before others would ask it: an address that counts for ten
 * seconds is not looked up once a minute.
 */
export function timedResolver(resolve: Resolver, { leastMs, othersMs, onChanged, log }: TimedOptions): TimedResolver {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const timed: Resolver = async (asked) => {
    clearTimeout(timer);
    const resolution = await resolve(asked);
    const { nextInMs } = resolution;
    clearTimeout(timer);
    if (nextInMs !== undefined && nextInMs < othersMs && !isClosed)
      timer = setTimeout(byItself, Math.max(nextInMs, leastMs)).unref();
    return resolution;
  };
  const byItself = () => {
    timed().then(
      (resolution) => {
        logResolution(log, resolution);
        if (resolution.hasChanged) onChanged(whyOf(resolution));
      },
      // Whoever compiles next looks up again.
      (cause: unknown) => log.error({ reason: causeText(cause) }, "nothing could be looked up"),
    );
  };
  return {
    resolve: timed,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
