import { type ResourceType, typeOfUrl } from "../../snapshot/resource-type.ts";
import { answerDelta } from "../delta-answer.ts";
import type { Front } from "../front.ts";
import { answerPoll } from "../poll.ts";
import { isRecord } from "../poll-request.ts";
import { bodyResponse } from "../responses.ts";

/**
 * Connect's unary calls in JSON. Their bodies are proto JSON, which is how resources are stored, so they are answered from the
 * texts: no message is made, and no descriptor of Envoy's types is needed at the edge.
 */
export async function callJson(front: Front, method: ResourceType | "delta", request: Request): Promise<Response> {
  const body = await request.text();
  const common = { body, patienceMs: 0, signal: request.signal };
  if (method !== "delta") return toResponse(await answerPoll(front, { ...common, type: method }));
  const type = typeOfUrl(typeUrlIn(body));
  if (type === undefined) return connectError(400, "type_url names no type that is served here");
  return toResponse(await answerDelta(front, { ...common, type, shape: "stream" }));
}

function toResponse(answer: Awaited<ReturnType<typeof answerPoll>> | Awaited<ReturnType<typeof answerDelta>>) {
  switch (answer.kind) {
    case "changed":
      return bodyResponse(answer.body);
    case "unchanged":
      return connectError(409, "the version is current");
    case "refused":
      return connectError(answer.status, answer.reason);
  }
}

const codes = { 400: "invalid_argument", 404: "not_found", 409: "already_exists", 503: "unavailable" } as const;

/** @see https://connectrpc.com/docs/protocol/#error-codes */
const connectError = (status: keyof typeof codes, message: string): Response =>
  Response.json({ code: codes[status], message }, { status });

function typeUrlIn(body: string): string {
  try {
    const json: unknown = JSON.parse(body);
    const url = isRecord(json) ? (json.type_url ?? json.typeUrl) : undefined;
    return typeof url === "string" ? url : "";
  } catch {
    return "";
  }
}
