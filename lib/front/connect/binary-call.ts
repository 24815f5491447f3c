import { ConnectError } from "@connectrpc/connect";
import { bytesOf, type ReadBody } from "../../limits/read-body.ts";
import type { Sender } from "../polls/sender.ts";
import { type Answer, wholeAnswer } from "../requests/answer.ts";
import type { DiscoveryCall } from "./calls.ts";
import { type CapacityServices, capacityIn } from "./capacity.ts";
import { connectProblemOf } from "./connect-error.ts";
import { connectProblem } from "./connect-problem.ts";

/** Connect's unary calls in binary. */
export async function callBinary(
  front: CapacityServices,
  call: DiscoveryCall,
  { caller, signal: gone }: Sender,
  body: ReadBody,
): Promise<Answer> {
  if (body.kind === "refused") return connectProblem(body.status, body.reason);
  const signal = gone() ?? new AbortController().signal;
  const { capacity, asked, leave } = capacityIn(front, signal);
  const bytes = bytesOf(body);
  asked(bytes.length);
  try {
    const message = await call.answer(bytes, { caller, signal, capacity });
    const headers = { "content-type": "application/proto", "cache-control": "no-store" };
    return wholeAnswer(message, { status: 200, headers }, leave);
  } catch (cause) {
    leave();
    return connectProblemOf(ConnectError.from(cause));
  }
}
