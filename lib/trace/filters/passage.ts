import type { Behind, End, PassedOver } from "../decision.ts";
import type { Stream } from "./stream.ts";

/** What a filter does with a request. */
export interface Passage {
  /** In words. */
  readonly why: string;
  /** Requests that it answers itself; absent where all of them pass. */
  readonly ends?: {
    /** Above 0, at most 1; `unknown` where it depends on something. */
    readonly part: number | "unknown";
    readonly end: End;
    /** What it depends on, for `unknown`. */
    readonly on?: readonly string[];
  };
  /** The request behind the filter; absent where it is the same. */
  readonly next?: Stream;
  /** Whether the route is chosen again, by the request behind the filter. */
  readonly reroutes?: boolean;
  /** Absent for whatever is behind the resource. */
  readonly behind?: readonly Behind[] | undefined;
  readonly passedOver?: readonly PassedOver[];
}
