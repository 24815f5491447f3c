import type { Carrier } from "../limits/read-body.ts";
import { labelsOf } from "../snapshot/classifier.ts";
import { isWildcard, type ResourceType, typeUrlOf } from "../snapshot/resource-type.ts";
import type { LoadedRoot } from "../snapshot/snapshot-reader.ts";
import type { Caller } from "./auth/caller.ts";
import { type ChunkedBody, discoveryBody } from "./discovery-body.ts";
import { shown } from "./excess.ts";
import type { Front } from "./front.ts";
import { holdUntilMs, stillHolding } from "./hold.ts";
import { type Refused, refuse, refuseUnplaced } from "./outcome.ts";
import { type PollRequest, readPoll } from "./poll-request.ts";
import { readRequest } from "./read-request.ts";
import { selectResources } from "./select-resources.ts";

/** What a poll is told. Envoy keeps what it has on everything but `changed`. */
export type PollAnswer =
  | { readonly kind: "changed"; readonly version: string; readonly classId: string; readonly body: ChunkedBody }
  | { readonly kind: "unchanged" }
  | Refused;

/** What is known of a poll besides its body. */
export interface Poll {
  readonly caller: Caller;
  readonly type: ResourceType;
  /** How long the node says it will wait, from `x-envoy-expected-rq-timeout-ms`; 0 when it does not say. */
  readonly patienceMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Answers a poll: at once when there is something new or the node brings no version, else as soon as there is, if it is
 * willing to wait.
 */
export async function answerPoll(front: Front, carrier: Carrier, poll: Poll): Promise<PollAnswer> {
  const read = await readRequest(front, carrier, front.limits.pollBytes, readPoll);
  const answer = "request" in read ? await answerRequest(front, poll, read.request) : read;
  front.metrics.poll(poll.type, answer.kind === "refused" ? answer.outcome : answer.kind);
  return answer;
}

async function answerRequest(front: Front, poll: Poll, request: PollRequest): Promise<PollAnswer> {
  const problem = problemWith(request, poll.type);
  if (problem !== undefined) return refuse(400, "bad-request", problem);

  const { node, version } = request;
  // Clusters and listeners come whole over REST, whatever names a request brings.
  const names = isWildcard(poll.type) ? [] : request.names;
  const [name = ""] = names;
  // An Envoy asks for one name at a time. Whoever asks for several is none.
  const subscription = names.length > 1 ? undefined : { nodeId: node.id, type: poll.type, name };
  if (subscription !== undefined) front.refusals.asked(subscription, version);
  const untilMs = holdUntilMs(front, poll.patienceMs);
  for (;;) {
    const served = await front.served({ nodeId: node.id, labels: () => labelsOf(node) });
    if (served === undefined) return refuse(503, "unavailable", "nothing was published yet");
    const answer = await answerNow(front, served.loaded, poll, { ...request, names });
    if (subscription !== undefined && answer.kind === "unchanged") front.refusals.current(subscription);
    if (subscription !== undefined && answer.kind === "changed") {
      const { version: refusable, classId } = answer;
      front.refusals.served(subscription, { kept: version, version: refusable, classId, root: served.loaded.hash });
    }
    if (answer.kind !== "unchanged") return answer;
    const waiting = { untilMs, bytes: request.bytes, signal: poll.signal };
    if (!(await stillHolding(front, served.state, waiting))) return answer;
  }
}

async function answerNow(
  front: Front,
  loaded: LoadedRoot,
  { type, caller }: Poll,
  { node, names, version }: PollRequest,
): Promise<PollAnswer> {
  const placement = await front.place(loaded, node, caller);
  if (placement.kind !== "placed") return refuseUnplaced(placement);
  const { classId } = placement;
  const selection = await selectResources(front.reader, loaded, { classId, shape: "poll", type, names });
  if (selection === undefined) return refuse(404, "unknown-node", `there is no class "${classId}"`);
  if (selection.parts.length === 0 && names.length > 0) {
    return refuse(404, "unknown-name", `class "${classId}" has no ${type} named ${shown(names.join(", "))}`);
  }
  if (selection.version === version) return { kind: "unchanged" };
  const body = await discoveryBody(front.reader, type, selection);
  return { kind: "changed", version: selection.version, classId, body };
}

function problemWith({ typeUrl, names }: PollRequest, type: ResourceType): string | undefined {
  if (typeUrl !== undefined && typeUrl !== typeUrlOf(type)) {
    return `type_url ${shown(typeUrl)} does not belong to this path; ${typeUrlOf(type)} does`;
  }
  if (!isWildcard(type) && names.length === 0) return `resource_names is empty: ${type} are fetched by name`;
  return undefined;
}
