import { Code, ConnectError } from "@connectrpc/connect";
import type { Gate } from "../../limits/gate.ts";
import type { Call } from "./answers.ts";

/**
 * Room for the answer to one call.
 *
 * @returns `room` for the call, `leave` for when the answer is sent or there is none
 */
export function roomIn(gate: Gate, signal: AbortSignal): { readonly room: Call["room"]; leave(): void } {
  let leave = () => {};
  return {
    async room(bytes) {
      const entered = await gate.enter(bytes, signal).catch(() => {
        throw new ConnectError("the caller is gone", Code.Canceled);
      });
      leave = entered;
    },
    leave: () => leave(),
  };
}
