import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import { isWildcard, type ResourceType, typeUrlOf } from "../../snapshot/resource-type.ts";
import type { Selection } from "../../streams/select-resources.ts";
import type { Caller } from "../auth/caller.ts";
import { shown } from "../excess.ts";
import { type AckSource, ackSourceOf } from "../heads/cds-acks.ts";
import type { Subscription } from "../nodes/refusals.ts";
import { requestingNodeOf } from "../nodes/requesting-node.ts";
import { type Refused, refuse, refuseMisfit } from "./outcome.ts";
import type { PollRequest } from "./poll-request.ts";

/** Which resources are asked for, and by whom: all that follows from a request, its path and its sender. */
export interface Question {
  readonly request: PollRequest;
  readonly type: ResourceType;
  readonly caller: Caller;
  /** Clusters and listeners come whole over REST, whatever names a request brings. */
  readonly names: readonly string[];
  /** What its node goes on asking for. An Envoy asks for one name at a time: whoever asks for several is none. */
  readonly subscription: Subscription | undefined;
  readonly by: AckSource;
}

/** What a question is answered from. */
export interface Found {
  readonly classId: string;
  readonly selection: Selection;
}

/** Questions, known by the very objects that they follow from: polls that are known again bring the same ones. */
export interface Questions {
  of(request: PollRequest, type: ResourceType, caller: Caller): Question | Refused;
  /** What a question was answered from the last time, if that was out of the same root. */
  found(question: Question, loaded: LoadedRoot): Found | undefined;
  keep(question: Question, loaded: LoadedRoot, found: Found): void;
}

export function createQuestions(): Questions {
  const asked = new WeakMap<PollRequest, Question>();
  const answered = new WeakMap<Question, { readonly loaded: LoadedRoot; readonly found: Found }>();
  return {
    of(request, type, caller) {
      const before = asked.get(request);
      if (before?.type === type && before.caller === caller) return before;
      const question = questionOf(request, type, caller);
      if (!("kind" in question)) asked.set(request, question);
      return question;
    },
    found(question, loaded) {
      const before = answered.get(question);
      return before?.loaded === loaded ? before.found : undefined;
    },
    keep: (question, loaded, found) => void answered.set(question, { loaded, found }),
  };
}

function questionOf(request: PollRequest, type: ResourceType, caller: Caller): Question | Refused {
  const problem = problemWith(request, type);
  if (problem !== undefined) return refuse(400, "bad-request", problem);
  const refused = refuseMisfit(caller, request.node);
  if (refused !== undefined) return refused;
  const { id: nodeId } = request.node;
  const names = isWildcard(type) ? [] : request.names;
  const subscription =
    names.length > 1 ? undefined : { ...requestingNodeOf(caller, request.node), type, name: names[0] ?? "" };
  return { request, type, caller, names, subscription, by: ackSourceOf(nodeId, caller) };
}

function problemWith({ typeUrl, names }: PollRequest, type: ResourceType): string | undefined {
  if (typeUrl !== undefined && typeUrl !== typeUrlOf(type)) {
    return `type_url ${shown(typeUrl)} does not belong to this path; ${typeUrlOf(type)} does`;
  }
  if (!isWildcard(type) && names.length === 0) return `resource_names is empty: ${type} are fetched by name`;
  return undefined;
}
