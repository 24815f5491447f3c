import { type Log, sliceTrouble } from "../telemetry/log.ts";
import { type Pace, sliceWaitMs } from "../triggers/pace.ts";
import type { FanOut } from "./fan-out.ts";

export interface QueuedSlices {
  /** At most so many; at least 2. */
  readonly slices: number;
  /** Of the compile function whose turn waits for them. */
  readonly pace: Pace;
  readonly log: Log;
}

/** A fan-out whose slices go over a queue: nobody answers, and what comes of them is looked for in the store. */
export const fanOutByQueue = (dispatch: FanOut["dispatch"], { slices, pace, log }: QueuedSlices): FanOut => ({
  dispatch,
  most: slices,
  waitMs: sliceWaitMs(pace),
  onTrouble: sliceTrouble(log),
});
