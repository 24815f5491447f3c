import { labelsOf as labelsOfClaims } from "../snapshot/classifier.ts";
import { isWildcard, type ResourceType, typeUrlOf } from "../snapshot/resource-type.ts";
import type { LoadedRoot } from "../snapshot/snapshot-reader.ts";
import { type ChunkedBody, discoveryBody } from "./discovery-body.ts";
import type { Front } from "./front.ts";
import { holdUntilMs, stillHolding } from "./hold.ts";
import { type Refused, refuse } from "./outcome.ts";
import { type GlimpsedPoll, glimpsePoll, type PollRequest, readPoll } from "./poll-request.ts";
import { selectResources } from "./select-resources.ts";

/** What a poll is told. Envoy keeps what it has on everything but `changed`. */
export type PollAnswer =
  | { readonly kind: "changed"; readonly version: string; readonly classId: string; readonly body: ChunkedBody }
  | { readonly kind: "unchanged" }
  | Refused;

/** A poll as it came in. */
export interface Poll {
  readonly type: ResourceType;
  readonly body: string;
  /** How long the node says it will wait, from `x-envoy-expected-rq-timeout-ms`; 0 when it does not say. */
  readonly patienceMs: number;
  readonly signal?: AbortSignal;
}

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
  const asked = glimpseOrRead(poll);
  if ("problem" in asked) return refuse(400, "bad-request", asked.problem);
  const problem = problemWith(asked, poll.type);
  if (problem !== undefined) return refuse(400, "bad-request", problem);

  const nodeId = "nodeId" in asked ? asked.nodeId : asked.node.id;
  // Clusters and listeners come whole over REST, whatever names a request brings.
  const names = isWildcard(poll.type) ? [] : asked.names;
  const subscription = { nodeId, type: poll.type, name: names.join() };
  front.refusals.asked(subscription, asked.version);
  const untilMs = holdUntilMs(front, poll.patienceMs);
  for (;;) {
    const served = await front.served({ nodeId, labels: () => labelsOf(asked, poll.body) });
    if (served === undefined) return refuse(503, "unavailable", "nothing was published yet");
    const answer = await answerNow(front, served.loaded, poll, { ...asked, names });
    if (answer.kind === "unchanged") front.refusals.current(subscription);
    if (answer.kind === "changed") {
      const { version, classId } = answer;
      front.refusals.served(subscription, { kept: asked.version, version, classId, root: served.loaded.hash });
    }
    if (answer.kind !== "unchanged" || !(await stillHolding(front, served.state, untilMs, poll.signal))) return answer;
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
  const question = { classId, shape: "poll", type: poll.type, names: asked.names } as const;
  const selection = await selectResources(front.reader, loaded, question);
  if (selection === undefined) return refuse(404, "unknown-node", `there is no class "${classId}"`);
  if (selection.parts.length === 0 && asked.names.length > 0) {
    return refuse(404, "unknown-name", `class "${classId}" has no ${poll.type} named ${asked.names.join(", ")}`);
  }
  if (selection.version === asked.version) return { kind: "unchanged" };
  const body = await discoveryBody(front.reader, poll.type, selection);
  return { kind: "changed", version: selection.version, classId, body };
}

async function placeAsked(front: Front, loaded: LoadedRoot, body: string, asked: GlimpsedPoll | PollRequest) {
  if ("node" in asked) return front.place(loaded, asked.node);
  // Never a first poll, so the node was read whole before, unless by another instance or in another root.
  const known = front.recall(loaded, asked.nodeId, asked.nodeCluster);
  if (known !== undefined) return { kind: "placed", classId: known } as const;
  const whole = readWhole(body);
  return "problem" in whole ? ({ kind: "unplaced", reason: whole.problem } as const) : front.place(loaded, whole.node);
}

function labelsOf(asked: GlimpsedPoll | PollRequest, body: string): Readonly<Record<string, unknown>> {
  const whole = "node" in asked ? asked : readWhole(body);
  return "problem" in whole ? {} : labelsOfClaims(whole.node);
}

/** A glimpse is enough unless names are needed and it saw none. */
function glimpseOrRead({ body, type }: Poll): GlimpsedPoll | PollRequest | { readonly problem: string } {
  const glimpsed = glimpsePoll(body);
  return glimpsed !== undefined && (isWildcard(type) || glimpsed.names.length > 0) ? glimpsed : readWhole(body);
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
