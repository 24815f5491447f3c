import { PortolanError, unreachable } from "../../config/diagnostic.ts";
import { type ResourceType, resourceTypes, type ShapeName } from "../../snapshot/resource-type.ts";
import type { ServedType } from "../../streams/served-type.ts";
import { connectProblem } from "../connect/connect-problem.ts";
import { answerDelta } from "../delta/delta-answer.ts";
import { shown } from "../excess.ts";
import type { Front } from "../front.ts";
import { answerSecret, secretResponse } from "../secrets/secret-answer.ts";
import { type SecretsNow, secretDeltaBody } from "../secrets/secret-delta.ts";
import { whyUnread } from "../why-unread.ts";
import type { Asking } from "./asking.ts";
import type { ChunkedBody } from "./discovery-body.ts";
import type { Refused } from "./outcome.ts";
import { answerPoll } from "./poll.ts";
import { problem } from "./responses.ts";

/** What a path asks for. */
export type DiscoveryCall =
  | { readonly kind: "secrets" }
  | { readonly kind: "poll"; readonly type: ResourceType }
  | { readonly kind: "delta"; readonly type: ServedType; readonly shape: ShapeName }
  /** The same as a call of Connect's, unary and in JSON: the request's own `type_url` says of what. */
  | { readonly kind: "delta-fetch" };

/** An answer, for whichever server carries it. */
export type CallAnswer =
  | { readonly kind: "changed"; readonly body: ChunkedBody }
  | { readonly kind: "unchanged" }
  /** `refusal` says it. */
  | Refused
  /** Anything else, ready to be sent. */
  | { readonly kind: "other"; readonly response: Response };

/** `DeltaFetch` of proto/portolan/v1/snapshot_service.proto. */
export const deltaFetchPath = "/portolan.v1.SnapshotService/DeltaFetch";

export const isJson = (contentType: string): boolean => /^application\/json\b/.test(contentType);

/**
 * How long whoever asks will wait, in milliseconds.
 *
 * @see https://connectrpc.com/docs/protocol/#unary-request, Connect-Timeout-Ms
 */
export const patienceMs = ({ kind }: DiscoveryCall, header: (name: string) => string | undefined): number =>
  Number(header(kind === "delta-fetch" ? "connect-timeout-ms" : "x-envoy-expected-rq-timeout-ms")) || 0;

/**
 * Reads what follows `/v3/`, `discovery:clusters`, `delta:routes`.
 *
 * @param shape `?shape=` of the query
 * @returns undefined when there is no such call
 */
export function readCall(call: string, shape: string | undefined | null): DiscoveryCall | undefined {
  if (call === "discovery:secrets") return { kind: "secrets" };
  const [verb, name] = call.split(":");
  const deltaShape = shape === "poll" ? "poll" : "stream";
  if (call === "delta:secrets") return { kind: "delta", type: "secrets", shape: deltaShape };
  const type = resourceTypes.find((known) => known === name);
  if (type === undefined) return undefined;
  if (verb === "discovery") return { kind: "poll", type };
  return verb === "delta" ? { kind: "delta", type, shape: deltaShape } : undefined;
}

export const noSuchCall = (call: string): Response => problem(404, `there is no ${shown(call)} here`);

/** Answers a call. Errors never have status 200, so no Envoy takes one for an empty answer. */
export function answerCall(front: Front, call: DiscoveryCall, asking: Asking): Promise<CallAnswer> {
  switch (call.kind) {
    case "poll":
      return answerPoll(front, asking, call.type);
    case "delta":
      return answerDeltaCall(front, asking, call);
    case "delta-fetch":
      return answerDeltaFetch(front, asking);
    case "secrets":
      return answerSecretCall(front, asking);
    default:
      return unreachable(call);
  }
}

/** A refusal, as all but `DeltaFetch` say it. */
export const refusal = (refused: Refused): Response => problem(refused.status, refused.reason, closing(refused));

async function answerDeltaCall(
  front: Front,
  asking: Asking,
  { type, shape }: DiscoveryCall & { readonly kind: "delta" },
): Promise<CallAnswer> {
  const answer = await answerDelta(front, { ...asking, type, shape });
  return answer.kind === "secrets" ? secretsAnswer(answer) : answer;
}

async function answerDeltaFetch(front: Front, asking: Asking): Promise<CallAnswer> {
  const answer = await answerDelta(front, { ...asking, type: undefined, shape: "stream" });
  switch (answer.kind) {
    case "changed":
      return answer;
    case "secrets":
      return secretsAnswer(answer);
    case "unchanged":
      return { kind: "other", response: connectProblem(409, "the version is current") };
    case "refused":
      return { kind: "other", response: connectProblem(answer.status, answer.reason, closing(answer)) };
    default:
      return unreachable(answer);
  }
}

async function answerSecretCall(front: Front, asking: Asking): Promise<CallAnswer> {
  return { kind: "other", response: secretResponse(await answerSecret(front, asking)) };
}

const secretsAnswer = (answer: SecretsNow): CallAnswer => ({
  kind: "other",
  response: secretResponse({ kind: "changed", body: secretDeltaBody(answer) }),
});

/** What is left of a body that was not read would otherwise be read, and thrown away, before the next request. */
const closing = ({ status, outcome }: Refused): Readonly<Record<string, string>> =>
  status === 413 || outcome === "busy" ? { connection: "close" } : {};

/** The answer to a request that nobody could answer; the cause is in the log. */
export function failure(front: Front, cause: unknown): Response {
  front.onError(cause);
  // A store that fails says so with a PortolanError. Anything else is a mistake of ours, and no store is to blame.
  if (cause instanceof PortolanError) return problem(503, whyUnread(cause));
  return problem(500, "an error of Portolan's own; its log has more");
}
