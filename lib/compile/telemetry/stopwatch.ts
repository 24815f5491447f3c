import type { CompileObserver, CompileReport, StageName } from "./observer.ts";

/** What one compile took. */
export interface CompileTimes {
  readonly stageMs: ReadonlyMap<StageName, number>;
  readonly durationMs: number;
  /** From the oldest ask that it answers to its beginning; 0 where nobody has asked. */
  readonly queueMs: number;
}

export interface TimedListener {
  /** A compile has begun; `done` or `failed` ends it. */
  began?(): void;
  done(report: CompileReport, times: CompileTimes): void;
  failed(cause: unknown, times: CompileTimes): void;
}

/**
 * An observer that measures. A stage that is gone through several times counts with all of them.
 *
 * @param now milliseconds since the epoch
 */
export function stopwatch(listener: TimedListener, now: () => number = Date.now): CompileObserver {
  let oldestAskMs: number | undefined;
  return {
    asked(sentMs = now()) {
      oldestAskMs = Math.min(sentMs, oldestAskMs ?? sentMs);
    },
    begin() {
      const beganMs = now();
      listener.began?.();
      const queueMs = Math.max(0, beganMs - (oldestAskMs ?? beganMs));
      oldestAskMs = undefined;
      const stageMs = new Map<StageName, number>();
      const times = (): CompileTimes => ({ stageMs, durationMs: now() - beganMs, queueMs });
      return {
        stage(name) {
          const sinceMs = now();
          return () => stageMs.set(name, (stageMs.get(name) ?? 0) + now() - sinceMs);
        },
        done: (report) => listener.done(report, times()),
        failed: (cause) => listener.failed(cause, times()),
      };
    },
  };
}
