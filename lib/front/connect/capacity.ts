import { ConnectError } from "@connectrpc/connect";
import { noRoom } from "../../limits/read-body.ts";
import type { Front } from "../front.ts";
import type { Call } from "./answers.ts";
import { connectErrorOf } from "./connect-error.ts";

/** Memory budget for the answer to one call. */
export interface Capacity {
  /** `Call.capacity`. While it waits, the call's message counts among the bodies, and whoever waits longest gives way to those. */
  readonly capacity: Call["capacity"];
  /** Size of the call's message. */
  asked(bytes: number): void;
  /** For when the answer is sent or there is none. */
  leave(): void;
}

/** The budgets of answers and bodies. */
export type CapacityServices = Pick<Front, "answers" | "bodies">;

export function capacityIn({ answers, bodies }: CapacityServices, signal: AbortSignal): Capacity {
  let leave = () => {};
  let askedBytes = 0;
  return {
    async capacity(bytes) {
      const needed = new AbortController();
      const share = bodies.open(() => needed.abort(connectErrorOf(noRoom)));
      if (!share.take(askedBytes)) throw connectErrorOf(noRoom);
      try {
        leave = await answers.enter(bytes, AbortSignal.any([signal, needed.signal]));
      } catch (cause) {
        throw ConnectError.from(cause);
      } finally {
        share.close();
      }
    },
    asked(bytes) {
      askedBytes = bytes;
    },
    leave: () => leave(),
  };
}
