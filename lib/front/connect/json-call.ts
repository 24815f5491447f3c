import { type Carrier, readBody } from "../../limits/read-body.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import type { Caller } from "../auth/caller.ts";
import type { Front } from "../front.ts";
import type { Asking } from "../polls/asking.ts";
import { answerPoll, type PollAnswer } from "../polls/poll.ts";
import { bodyResponse } from "../polls/responses.ts";
import { answerSecret, type SecretAnswer, secretResponse } from "../secrets/secret-answer.ts";
import { connectProblem } from "./connect-problem.ts";

/**
 * Envoy's Fetch methods as Connect's unary calls in JSON. Their bodies are proto JSON, which is how resources are stored, so they are answered from the
 * texts: no message is made, and no descriptor of Envoy's types is needed at the edge.
 */
export async function callJson(
  front: Front,
  type: ResourceType | "secrets",
  carrier: Carrier,
  caller: Caller,
): Promise<Response> {
  const asking: Asking = {
    caller,
    body: (limits) => readBody(carrier, limits),
    patienceMs: 0,
    signal: () => carrier.req.raw.signal,
  };
  if (type === "secrets") return secretToResponse(await answerSecret(front, asking));
  return toResponse(await answerPoll(front, asking, type));
}

function secretToResponse(answer: SecretAnswer) {
  return answer.kind === "changed" ? secretResponse(answer) : toResponse(answer);
}

function toResponse(answer: PollAnswer) {
  switch (answer.kind) {
    case "changed":
      return bodyResponse(answer.body);
    case "unchanged":
      return connectProblem(409, "the version is current");
    case "refused":
      return connectProblem(answer.status, answer.reason);
  }
}
