import { ConnectError } from "@connectrpc/connect";
import { bytesOf, type Carrier, readBody } from "../../limits/read-body.ts";
import type { Caller } from "../auth/caller.ts";
import type { Front } from "../front.ts";
import { sentOnce } from "../polls/responses.ts";
import type { DiscoveryCall } from "./calls.ts";
import { connectProblemOf } from "./connect-error.ts";
import { connectProblem } from "./connect-problem.ts";
import { roomIn } from "./room.ts";

/** Connect's unary calls in binary. */
export async function callBinary(
  front: Front,
  call: DiscoveryCall,
  carrier: Carrier,
  caller: Caller,
): Promise<Response> {
  const body = await readBody(carrier, { maxBytes: call.maxBytes, pool: front.bodies });
  if (body.kind === "refused") return connectProblem(body.status, body.reason);
  const { signal } = carrier.req.raw;
  const { room, asked, leave } = roomIn(front, signal);
  const bytes = bytesOf(body);
  asked(bytes.length);
  try {
    const message = await call.answer(bytes, { caller, signal, room });
    return sentOnce(
      message,
      { status: 200, headers: { "content-type": "application/proto", "cache-control": "no-store" } },
      leave,
    );
  } catch (cause) {
    leave();
    return connectProblemOf(ConnectError.from(cause));
  }
}
