import { wholeNumberIn } from "../../config/setting-values.ts";

/** How long who compiles waits for what, in milliseconds. */
export interface Pace {
  /** A compile begins when there was no request for so long, */
  readonly quietMs: number;
  /** or when it has waited so long for that. */
  readonly longestWaitMs: number;
  /** A process that compiles and gives no sign of life for so long counts as dead. */
  readonly leaseMs: number;
  /** A compile that is not done by then is given up. */
  readonly turnMs: number;
  /** How often another process's compile is looked at, at first. */
  readonly pollMs: number;
}

/** The first two are Istio's. @see istio 1.30.3 pilot/pkg/features/tuning.go */
export const usualPace: Pace = {
  quietMs: 100,
  longestWaitMs: 10_000,
  leaseMs: 60_000,
  turnMs: 240_000,
  pollMs: 200,
};

/** How long slices are waited for: less than the turn that waits for them, so that the reason is theirs. */
export const sliceWaitMs = ({ turnMs }: Pick<Pace, "turnMs">): number => Math.round(turnMs * 0.8);

/** What a compile function's environment says of its pace: whole numbers. */
export interface PaceSettings {
  readonly DEBOUNCE_MS?: string | undefined;
  readonly DEBOUNCE_MAX_MS?: string | undefined;
  readonly LEASE_SECONDS?: string | undefined;
  readonly COMPILE_SECONDS?: string | undefined;
}

/**
 * @param prefix of the settings' names, for messages
 * @throws PortolanError that says what a setting may be
 */
export function readPace(settings: PaceSettings, prefix = ""): Pace {
  const number = (name: keyof PaceSettings, least: number, most: number, usual: number): number =>
    wholeNumberIn(`${prefix}${name}`, settings[name], { least, most, usual });
  const { quietMs, longestWaitMs, leaseMs, turnMs, pollMs } = usualPace;
  return {
    quietMs: number("DEBOUNCE_MS", 0, 60_000, quietMs),
    longestWaitMs: number("DEBOUNCE_MAX_MS", 0, 300_000, longestWaitMs),
    leaseMs: 1000 * number("LEASE_SECONDS", 5, 900, leaseMs / 1000),
    turnMs: 1000 * number("COMPILE_SECONDS", 10, 900, turnMs / 1000),
    pollMs,
  };
}
