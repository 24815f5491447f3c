import type { ReadBody } from "../../limits/read-body.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import { changed } from "../polls/call-routes.ts";
import { answerRead, type PollAnswer, type PollServices } from "../polls/poll.ts";
import type { Sender } from "../polls/sender.ts";
import type { Answer } from "../requests/answer.ts";
import { answerSecret, type SecretPollServices, secretResponse } from "../secrets/secret-answer.ts";
import { connectProblem } from "./connect-problem.ts";

/**
 * Envoy's Fetch methods as Connect's unary calls in JSON. Their bodies are proto JSON, which is how resources are stored, so they are answered from the
 * texts: no message is made, and no descriptor of Envoy's types is needed at the edge.
 */
export async function callJson(
  front: PollServices & SecretPollServices,
  type: ResourceType | "secrets",
  sender: Sender,
  body: ReadBody,
): Promise<Answer> {
  if (type !== "secrets") return toAnswer(await answerRead(front, sender, body, type));
  const answer = await answerSecret(front, sender, body);
  return answer.kind === "changed" ? secretResponse(answer) : toAnswer(answer);
}

function toAnswer(answer: PollAnswer): Answer {
  switch (answer.kind) {
    case "changed":
      return changed(answer.body);
    case "unchanged":
      return connectProblem(409, "the version is current");
    case "refused":
      return connectProblem(answer.status, answer.reason);
  }
}
