import { labelsOf } from "../../snapshot/classifier.ts";
import { isWildcard, type ResourceType, typeUrlOf } from "../../snapshot/resource-type.ts";
import type { LoadedRoot } from "../../snapshot/snapshot-reader.ts";
import { type Selection, selectResources } from "../delta/select-resources.ts";
import { shown } from "../excess.ts";
import type { Front, Served } from "../front.ts";
import { type Confirmer, confirmerOf } from "../heads/confirmations.ts";
import type { Asking } from "./asking.ts";
import type { ChunkedBody } from "./discovery-body.ts";
import { holdUntilMs, stillHolding } from "./hold.ts";
import type { KnownAnswer } from "./known-answers.ts";
import { type Refused, refuse, refuseMisfit, refuseUnplaced } from "./outcome.ts";
import type { PollRequest } from "./poll-request.ts";
import { selectionsAhead, switchingOf } from "./polled-switch.ts";
import { readRequest } from "./read-request.ts";

/** What a poll is told. Envoy keeps what it has on everything but `changed`. */
export type PollAnswer =
  | { readonly kind: "changed"; readonly version: string; readonly classId: string; readonly body: ChunkedBody }
  | { readonly kind: "unchanged" }
  | Refused;

/**
 * Answers a poll: at once when there is something new or the node brings no version, else as soon as there is, if it is
 * willing to wait.
 */
export async function answerPoll(front: Front, asking: Asking, type: ResourceType): Promise<PollAnswer> {
  const read = await readRequest(front, asking.body, front.limits.pollBytes, (body) => front.knownPolls.read(body));
  const answer = "request" in read ? await answerRequest(front, { ...asking, type }, read.request) : read;
  front.metrics.poll(type, answer.kind === "refused" ? answer.outcome : answer.kind);
  return answer;
}

interface Poll extends Asking {
  readonly type: ResourceType;
}

async function answerRequest(front: Front, poll: Poll, request: PollRequest): Promise<PollAnswer> {
  const problem = problemWith(request, poll.type);
  if (problem !== undefined) return refuse(400, "bad-request", problem);
  const refused = refuseMisfit(poll.caller, request.node);
  if (refused !== undefined) return refused;
  const by = confirmerOf(request.node.id, poll.caller);
  const leave = poll.type === "clusters" ? front.confirmations.asks(by, request.version ?? "") : undefined;
  try {
    return await answerInTime(front, poll, request, by);
  } finally {
    leave?.();
  }
}

async function answerInTime(front: Front, poll: Poll, request: PollRequest, by: Confirmer): Promise<PollAnswer> {
  const { node, version } = request;
  // Clusters and listeners come whole over REST, whatever names a request brings.
  const names = isWildcard(poll.type) ? [] : request.names;
  const [name = ""] = names;
  // An Envoy asks for one name at a time. Whoever asks for several is none.
  const subscription = names.length > 1 ? undefined : { nodeId: node.id, type: poll.type, name };
  if (subscription !== undefined) front.refusals.asked(subscription, version);
  const untilMs = holdUntilMs(front, poll.patienceMs);
  for (;;) {
    const count = front.confirmations.count(by);
    const served = front.servedToAll() ?? (await servedTo(front, poll, request));
    if (served === undefined) return refuse(503, "unavailable", "nothing was published yet");
    const known = front.knownAnswers.of(request, poll, served.loaded);
    const answer =
      known !== undefined && known.selection.version === version
        ? unchanged
        : await answerNow(front, served, poll, { request, names, known });
    if (served.isBehind) return behind(answer, version);
    if (subscription !== undefined && answer.kind !== "refused") front.nodes.has(subscription, version, "poll");
    if (subscription !== undefined && answer.kind === "unchanged") front.refusals.current(subscription);
    if (subscription !== undefined && answer.kind === "changed") {
      const { version: refusable, classId } = answer;
      front.refusals.served(subscription, { kept: version, version: refusable, classId, root: served.loaded.hash });
    }
    if (answer.kind !== "unchanged" && !isPending(answer)) return answer;
    const confirmed = served.ahead.length > 0 ? { by, count } : undefined;
    const waiting = { untilMs, bytes: request.bytes, signal: poll.signal, confirmed };
    if (!(await stillHolding(front, served.state, waiting))) return answer;
  }
}

/** Where the root in force cannot be read: nobody is held or led back, and who has nothing gets what there is. */
function behind(answer: PollAnswer, version: string | undefined): PollAnswer {
  if (answer.kind !== "changed" || version === undefined) return answer;
  answer.body.sent?.();
  return refuse(
    503,
    "unavailable",
    "the store does not answer, and what is at hand may be older than what the node has",
  );
}

function servedTo(front: Front, { caller }: Poll, { node }: PollRequest): Promise<Served | undefined> {
  const switching = switchingOf(front, { node, caller, shape: "poll" });
  return front.served({ nodeId: node.id, labels: () => labelsOf(node) }, switching, "last");
}

const unchanged: PollAnswer = { kind: "unchanged" };

interface Asked {
  readonly request: PollRequest;
  /** Names that count for the type. */
  readonly names: readonly string[];
  /** What the same request was answered from before, if it was. */
  readonly known: KnownAnswer | undefined;
}

async function answerNow(front: Front, served: Served, poll: Poll, asked: Asked): Promise<PollAnswer> {
  const { loaded, ahead } = served;
  const { type, caller } = poll;
  const { request, names } = asked;
  const { node, version } = request;
  const question = { shape: "poll", type, names } as const;
  const found = asked.known ?? (await find(front, loaded, poll, asked));
  if ("kind" in found) return found;
  const { classId, selection } = found;
  const isUnknown = selection.parts.length === 0 && names.length > 0;
  if (selection.version === version && !isUnknown) return unchanged;
  for await (const later of selectionsAhead(front, ahead, { node, caller }, question)) {
    if (later.selection.version === version) return { kind: "unchanged" };
    // Whoever asks for a route table has the listener that names it.
    if (isUnknown && later.selection.parts.length > 0) return changed(front, type, later.classId, later.selection);
  }
  if (isUnknown)
    return refuse(404, "unknown-name", `class "${classId}" has no ${type} named ${shown(names.join(", "))}`);
  return changed(front, type, classId, selection);
}

async function find(
  front: Front,
  loaded: LoadedRoot,
  poll: Poll,
  { request, names }: Asked,
): Promise<KnownAnswer | Refused> {
  const { type, caller } = poll;
  const placement = await front.place(loaded, request.node, caller);
  if (placement.kind !== "placed") return refuseUnplaced(placement);
  const { classId } = placement;
  const selection = await selectResources(front.reader, loaded, { shape: "poll", type, names, classId });
  if (selection === undefined) return refuse(404, "unknown-node", `there is no class "${classId}"`);
  const answer = { classId, selection };
  // Strangers are looked at each time: they are listed while they ask. Names that nothing is known of come and go.
  if (placement.byDefault === undefined && selection.parts.length > 0)
    front.knownAnswers.keep(request, poll, loaded, answer);
  return answer;
}

async function changed(front: Front, type: ResourceType, classId: string, selection: Selection): Promise<PollAnswer> {
  const body = await front.shared.bodyOf(type, selection);
  return { kind: "changed", version: selection.version, classId, body };
}

/** A node whose class is being compiled waits for it like one that has everything. */
const isPending = (answer: PollAnswer): boolean => answer.kind === "refused" && answer.outcome === "pending";

function problemWith({ typeUrl, names }: PollRequest, type: ResourceType): string | undefined {
  if (typeUrl !== undefined && typeUrl !== typeUrlOf(type)) {
    return `type_url ${shown(typeUrl)} does not belong to this path; ${typeUrlOf(type)} does`;
  }
  if (!isWildcard(type) && names.length === 0) return `resource_names is empty: ${type} are fetched by name`;
  return undefined;
}
