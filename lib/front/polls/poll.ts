import { labelsOf } from "../../base/classifier.ts";
import type { BodyLimits, ReadBody } from "../../limits/read-body.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import { type Selection, selectResources } from "../../streams/select-resources.ts";
import { shown } from "../excess.ts";
import type { Front, Served } from "../front.ts";
import type { WaiterGroup } from "../heads/waiter-groups.ts";
import type { ChunkedBody } from "./discovery-body.ts";
import { type HoldBounds, type HoldServices, holdMs, holdUntilMs, stillHolding } from "./hold.ts";
import { type Refused, refuse, refuseUnplaced } from "./outcome.ts";
import { type SwitchServices, selectionsAhead, switchingOf } from "./polled-switch.ts";
import type { Found, Question } from "./questions.ts";
import { requestIn } from "./read-request.ts";
import type { Sender } from "./sender.ts";

/** What polls are answered from: what is in force, what is remembered of polls and nodes, and what holds them. */
export type PollServices = HoldServices &
  HoldBounds &
  SwitchServices &
  PollMemory &
  Pick<Front, "knownPolls" | "refusals" | "waiterGroups" | "served" | "servedToAll" | "place">;

/** What the answers to polls are remembered by, and their bodies. */
type PollMemory = Pick<Front, "questions" | "shared">;

/** What a poll is told. Envoy keeps what it has on everything but `changed`. */
export type PollAnswer =
  | { readonly kind: "changed"; readonly version: string; readonly classId: string; readonly body: ChunkedBody }
  | { readonly kind: "unchanged" }
  | Refused;

const unchanged: PollAnswer = { kind: "unchanged" };

/** What bodies are read within. */
export type BodyServices = Pick<Front, "limits" | "bodies">;

/** What the body of a poll may cost. */
export const pollLimits = ({ limits, bodies }: BodyServices): BodyLimits => ({
  maxBytes: limits.pollBytes,
  pool: bodies,
});

/**
 * Answers a poll whose body was read: at once when there is something new or the node brings no version, else as soon as there is, if it is
 * willing to wait.
 *
 * @returns no promise where nothing has to be waited for: for what most polls are told, to wait costs as much as to find it out
 */
export function answerRead(
  front: PollServices,
  asking: Sender,
  body: ReadBody,
  type: ResourceType,
): PollAnswer | Promise<PollAnswer> {
  const read = requestIn(body, (whole) => front.knownPolls.read(whole));
  const question = "request" in read ? front.questions.of(read.request, type, asking.caller) : read;
  if ("kind" in question) return counted(front, type, question);
  const known = answerKnown(front, asking, question);
  return known === undefined ? answerQuestion(front, asking, question) : counted(front, type, known);
}

function counted(front: Pick<Front, "metrics">, type: ResourceType, answer: PollAnswer): PollAnswer {
  front.metrics.poll(type, answer.kind === "refused" ? answer.outcome : answer.kind);
  return answer;
}

/**
 * The answer to a question that was answered before, where nothing has happened since that it depends on.
 *
 * @returns undefined where something has, or the poll may wait for news
 */
function answerKnown(front: PollServices, { patienceMs }: Sender, question: Question): PollAnswer | undefined {
  const served = front.servedToAll();
  if (served === undefined) return undefined;
  const found = front.questions.found(question, served.loaded);
  const answer = atOnce(front, served, question, found);
  if (answer === undefined || (answer.kind === "unchanged" && holdMs(front, patienceMs) > 0)) return undefined;
  const { by, request, subscription, type } = question;
  if (type === "clusters") front.cdsAcks.asks(by, request.version ?? "")();
  if (subscription !== undefined) front.refusals.asked(subscription, request.version);
  recordAnswer(front, question, served, found, answer);
  return answer;
}

async function answerQuestion(front: PollServices, asking: Sender, question: Question): Promise<PollAnswer> {
  return counted(front, question.type, await answerInTime(front, asking, question));
}

async function answerInTime(front: PollServices, asking: Sender, question: Question): Promise<PollAnswer> {
  const { by, request, subscription, type } = question;
  const { version } = request;
  const leave = type === "clusters" ? front.cdsAcks.asks(by, version ?? "") : undefined;
  try {
    if (subscription !== undefined) front.refusals.asked(subscription, version);
    const untilMs = holdUntilMs(front, asking.patienceMs);
    for (;;) {
      const count = front.cdsAcks.count(by);
      const served = front.servedToAll() ?? (await servedTo(front, question));
      if (served === undefined) return refuse(503, "unavailable", "nothing was published yet");
      const found = front.questions.found(question, served.loaded);
      const answer = atOnce(front, served, question, found) ?? (await answerNow(front, served, question, found));
      if (served.isBehind) return behind(answer, version);
      recordAnswer(front, question, served, front.questions.found(question, served.loaded), answer);
      if (answer.kind !== "unchanged" && !isPending(answer)) return answer;
      const acked = served.ahead.length > 0 ? { by, count } : undefined;
      const waiterGroup = acked === undefined ? waiterGroupOf(front, served, question, answer) : undefined;
      const waiting = { untilMs, bytes: request.bytes, who: subscription, signal: asking.signal, acked, waiterGroup };
      if (!(await stillHolding(front, served.state, waiting))) return answer;
    }
  } finally {
    leave?.();
  }
}

function servedTo(
  front: SwitchServices & Pick<Front, "served">,
  { request: { node }, caller }: Question,
): Promise<Served | undefined> {
  const switching = switchingOf(front, { node, caller, shape: "poll" });
  return front.served({ nodeId: node.id, labels: () => labelsOf(node) }, switching, "last");
}

/** Has it remembered what a node has, and what it is sent. */
function recordAnswer(
  front: Pick<Front, "nodes" | "refusals">,
  question: Question,
  served: Served,
  found: Found | undefined,
  answer: PollAnswer,
) {
  const {
    subscription,
    request: { version: kept },
  } = question;
  if (subscription === undefined || answer.kind === "refused") return;
  front.nodes.has(subscription, kept, "poll", { classId: found?.classId, root: served.apart });
  if (answer.kind === "unchanged") return front.refusals.current(subscription);
  const { version, classId } = answer;
  front.refusals.served(subscription, { kept, version, classId, root: served.loaded.hash });
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

/** Who waits for the same as a poll that has what is in force. */
function waiterGroupOf(
  front: Pick<Front, "waiterGroups" | "questions">,
  { loaded }: Served,
  question: Question,
  answer: PollAnswer,
): WaiterGroup | undefined {
  const found = answer.kind === "unchanged" ? front.questions.found(question, loaded) : undefined;
  const { type, names, request } = question;
  if (found === undefined || names.length > 1 || found.selection.version !== request.version) return undefined;
  return front.waiterGroups.of({ ...found, type, names, loaded });
}

/** What is answered without waiting for anything: what most polls are. */
function atOnce(
  front: Pick<Front, "shared">,
  { ahead }: Served,
  { type, request }: Question,
  found: Found | undefined,
): PollAnswer | undefined {
  if (found === undefined) return undefined;
  const { classId, selection } = found;
  const { version } = selection;
  if (version === request.version) return unchanged;
  const body = ahead.length === 0 ? front.shared.atHand(type, selection) : undefined;
  return body && { kind: "changed", version, classId, body };
}

/** @param before what the same question was answered from out of the same root, if it was */
async function answerNow(
  front: PollMemory & Pick<Front, "reader" | "place">,
  { loaded, ahead }: Served,
  question: Question,
  before: Found | undefined,
): Promise<PollAnswer> {
  const found = before ?? (await find(front, loaded, question));
  if ("kind" in found) return found;
  const { classId, selection } = found;
  const { request, type, names, caller } = question;
  const isUnknown = selection.parts.length === 0 && names.length > 0;
  if (selection.version === request.version && !isUnknown) return unchanged;
  for await (const later of selectionsAhead(
    front,
    ahead,
    { node: request.node, caller },
    { shape: "poll", type, names },
  )) {
    if (later.selection.version === request.version) return unchanged;
    // Whoever asks for a route table has the listener that names it.
    if (isUnknown && later.selection.parts.length > 0) return changed(front, type, later.classId, later.selection);
  }
  if (isUnknown)
    return refuse(404, "unknown-name", `class "${classId}" has no ${type} named ${shown(names.join(", "))}`);
  return changed(front, type, classId, selection);
}

async function find(
  front: Pick<Front, "reader" | "place" | "questions">,
  loaded: LoadedRoot,
  question: Question,
): Promise<Found | Refused> {
  const { request, caller, type, names } = question;
  const placement = await front.place(loaded, request.node, caller);
  if (placement.kind !== "placed") return refuseUnplaced(placement);
  const { classId } = placement;
  const selection = await selectResources(front.reader, loaded, { shape: "poll", type, names, classId });
  if (selection === undefined) return refuse(404, "unknown-node", `there is no class "${classId}"`);
  const found = { classId, selection };
  // A node without a class of its own is placed anew each time: it is listed while it asks. Names that nobody has are not kept either.
  if (placement.byDefault === undefined && selection.parts.length > 0) front.questions.keep(question, loaded, found);
  return found;
}

async function changed(
  front: Pick<Front, "shared">,
  type: ResourceType,
  classId: string,
  selection: Selection,
): Promise<PollAnswer> {
  const body = await front.shared.bodyOf(type, selection);
  return { kind: "changed", version: selection.version, classId, body };
}

/** A node whose class is being compiled waits for it like one that has everything. */
const isPending = (answer: PollAnswer): boolean => answer.kind === "refused" && answer.outcome === "pending";
