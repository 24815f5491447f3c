import { isWildcard, type ResourceType, typeUrlOf } from "../snapshot/resource-type.ts";
import type { LoadedRoot } from "../snapshot/snapshot-reader.ts";
import { type AnswerBody, answerFor } from "./answer.ts";
import type { Front } from "./front.ts";
import type { Outcome } from "./metrics.ts";
import { type GlimpsedPoll, glimpsePoll, type PollRequest, readPoll } from "./poll-request.ts";

/** What a poll is told. Envoy keeps what it has on everything but `changed`. */
export type PollAnswer =
  | { readonly kind: "changed"; readonly version: string; readonly body: AnswerBody }
  | { readonly kind: "unchanged" }
  | { readonly kind: "refused"; readonly outcome: Outcome; readonly status: 400 | 404 | 503; readonly reason: string };

/** A poll as it came in. */
export interface Poll {
  readonly type: ResourceType;
  readonly body: string;
  /** How long the node says it will wait, from `x-envoy-expected-rq-timeout-ms`; 0 when it does not say. */
  readonly patienceMs: number;
  readonly signal?: AbortSignal;
}

/** Time left for the answer to travel when a poll is held. */
const holdMarginMs = 5_000;

/**
 * Answers a poll: at once when there is something new or the node brings no version, else as soon as there is, if it is
 * willing to wait.
 */
export async function answerPoll(front: Front, poll: Poll): Promise<PollAnswer> {
  const answer = await answerAsked(front, poll);
  front.metrics.poll(poll.type, answer.kind === "refused" ? answer.outcome : answer.kind);
  return answer;
}

async function answerAsked(front: Front, poll: Poll): Promise<PollAnswer> {
  const glimpsed = glimpsePoll(poll.body);
  const asked = glimpsed ?? readWhole(poll.body);
  if ("problem" in asked) return refuse(400, "bad-request", asked.problem);
  const problem = problemWith(asked, poll.type);
  if (problem !== undefined) return refuse(400, "bad-request", problem);

  const nodeId = "nodeId" in asked ? asked.nodeId : asked.node.id;
  const subscription = { nodeId, type: poll.type, name: asked.names.join() };
  front.refusals.asked(subscription, asked.version);
  const holdMs = Math.min(front.maxHoldMs, poll.patienceMs - holdMarginMs);
  const untilMs = performance.now() + holdMs;
  for (;;) {
    const loaded = await front.served();
    if (loaded === undefined) return refuse(503, "unavailable", "nothing was published yet");
    const answer = await answerNow(front, loaded, poll, asked);
    if (answer.kind === "changed") front.refusals.served(subscription, asked.version, answer.version);
    const leftMs = untilMs - performance.now();
    if (answer.kind !== "unchanged" || leftMs <= 0) return answer;
    front.metrics.held(1);
    const changed = await front.heads.waitForChange(loaded.hash, leftMs, poll.signal);
    front.metrics.held(-1);
    if (!changed) return answer;
  }
}

async function answerNow(
  front: Front,
  loaded: LoadedRoot,
  poll: Poll,
  asked: GlimpsedPoll | PollRequest,
): Promise<PollAnswer> {
  const placement = await placeAsked(front, loaded, poll.body, asked);
  if (placement.kind === "unplaced") return refuse(404, "unknown-node", placement.reason);
  const { classId } = placement;
  const answer = await answerFor(front.reader, loaded, { classId, shape: "poll", type: poll.type, names: asked.names });
  if (answer === undefined) return refuse(404, "unknown-node", `there is no class "${classId}"`);
  if (answer.kind === "unknown-names") {
    return refuse(404, "unknown-name", `class "${classId}" has no ${poll.type} named ${asked.names.join(", ")}`);
  }
  if (answer.version === asked.version) return { kind: "unchanged" };
  return { kind: "changed", version: answer.version, body: answer.body };
}

async function placeAsked(front: Front, loaded: LoadedRoot, body: string, asked: GlimpsedPoll | PollRequest) {
  if ("node" in asked) return front.place(loaded, asked.node);
  // A first poll is always read whole: a node that has restarted may bring other metadata under the same id.
  const known = asked.version === undefined ? undefined : front.recall(loaded, asked.nodeId, asked.nodeCluster);
  if (known !== undefined) return { kind: "placed", classId: known } as const;
  const whole = readWhole(body);
  return "problem" in whole ? ({ kind: "unplaced", reason: whole.problem } as const) : front.place(loaded, whole.node);
}

function readWhole(body: string): PollRequest | { readonly problem: string } {
  const read = readPoll(body);
  return "request" in read ? read.request : read;
}

function problemWith(asked: GlimpsedPoll | PollRequest, type: ResourceType): string | undefined {
  if (asked.typeUrl !== undefined && asked.typeUrl !== typeUrlOf(type)) {
    return `type_url ${asked.typeUrl} does not belong to this path; ${typeUrlOf(type)} does`;
  }
  if (!isWildcard(type) && asked.names.length === 0) return `resource_names is empty: ${type} are fetched by name`;
  return undefined;
}

const refuse = (status: 400 | 404 | 503, outcome: Outcome, reason: string): PollAnswer => ({
  kind: "refused",
  status,
  outcome,
  reason,
});
