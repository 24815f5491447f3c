import type { DeltaQuestion } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { isRecord, type NodeClaims } from "../../base/classifier.ts";
import type { Limits } from "../../limits/limits.ts";
import type { Subscription } from "../../streams/delta.ts";
import { distinctNames, isName } from "../excess.ts";
import type { ExtensionLists } from "../polls/extension-lists.ts";
import { parseRequest } from "../polls/json-request.ts";
import { readNode } from "../polls/poll-request.ts";
import { type HeldVersion, readNonce } from "./nonce.ts";

/** A DeltaDiscoveryRequest, as far as one answer needs it. */
export interface DeltaAsked extends Subscription {
  readonly node: NodeClaims;
  readonly typeUrl: string | undefined;
  /** What its last answer came to, by `response_nonce`; undefined at first. */
  readonly held: HeldVersion | undefined;
  /** What its Envoy refuses of that version; undefined when it takes all of it. */
  readonly complaint: Complaint | undefined;
  /** `accepted_version`, a member of ours: what an agent's Envoy has taken last, "" for nothing; undefined where a reader does not say. */
  readonly accepted: string | undefined;
}

/** One that may be held. */
export interface DeltaRequest extends DeltaAsked {
  /** About what it takes to remember the request. */
  readonly bytes: number;
}

/** `error_detail`: what an Envoy said, and of which resources. */
export interface Complaint {
  readonly words: string;
  readonly names: readonly string[];
}

export type ReadDelta = { readonly request: DeltaRequest } | { readonly problem: string };

const maxComplaintNames = 50;

/** Reads a DeltaDiscoveryRequest in proto JSON, with proto or camelCase names. */
export function readDelta(body: string, limits: Limits, lists?: ExtensionLists): ReadDelta {
  const parsed = parseRequest(body, limits.depth, lists);
  if ("problem" in parsed) return parsed;
  const { json, bytes } = parsed;
  const node = readNode(json.node, bytes, limits);
  if ("problem" in node) return node;
  const typeUrl = json.type_url ?? json.typeUrl ?? "";
  const nonce = json.response_nonce ?? json.responseNonce ?? "";
  const known = json.initial_resource_versions ?? json.initialResourceVersions ?? {};
  if (!isName(typeUrl, limits)) return { problem: `type_url is not a text of at most ${limits.nameBytes} bytes` };
  if (!isName(nonce, limits)) return { problem: `response_nonce is not a text of at most ${limits.nameBytes} bytes` };
  if (!isRecord(known)) return { problem: "initial_resource_versions is not a map of texts" };
  const accepted = json.accepted_version ?? json.acceptedVersion;
  if (accepted !== undefined && !isName(accepted, limits))
    return { problem: `accepted_version is not a text of at most ${limits.nameBytes} bytes` };
  const subscription = readSubscription(
    json.resource_names_subscribe ?? json.resourceNamesSubscribe ?? [],
    json.resource_names_unsubscribe ?? json.resourceNamesUnsubscribe ?? [],
    known,
    limits,
  );
  if ("problem" in subscription) return subscription;
  return {
    request: {
      node: node.claims,
      typeUrl: typeUrl || undefined,
      ...subscription,
      held: nonce === "" ? undefined : readNonce(nonce),
      complaint: readComplaint(json.error_detail ?? json.errorDetail, limits),
      accepted,
      bytes,
    },
  };
}

/** A DeltaDiscoveryRequest in binary, but for its node. */
export function readDeltaQuestion(
  question: Omit<DeltaQuestion, "node">,
  limits: Limits,
): Omit<DeltaAsked, "node"> | { readonly problem: string } {
  const { responseNonce: nonce, typeUrl, errorDetail } = question;
  if (!isName(nonce, limits)) return { problem: `response_nonce is not a text of at most ${limits.nameBytes} bytes` };
  const { resourceNamesSubscribe, resourceNamesUnsubscribe, initialResourceVersions } = question;
  const wanted = readSubscription(resourceNamesSubscribe, resourceNamesUnsubscribe, initialResourceVersions, limits);
  if ("problem" in wanted) return wanted;
  return {
    typeUrl,
    ...wanted,
    held: nonce === "" ? undefined : readNonce(nonce),
    complaint: errorDetail && { words: errorDetail.message, names: [] },
    accepted: undefined,
  };
}

/** A google.rpc.Status, whose details may name resources (google.rpc.ResourceInfo). */
function readComplaint(status: unknown, limits: Limits): Complaint | undefined {
  if (!isRecord(status)) return undefined;
  const { message, details } = status;
  const names = (Array.isArray(details) ? details.slice(0, maxComplaintNames) : []).flatMap((detail: unknown) => {
    const name = isRecord(detail) ? (detail.resource_name ?? detail.resourceName) : undefined;
    return isName(name, limits) ? [name] : [];
  });
  return { words: typeof message === "string" ? message : "", names };
}

/** What the lists of a request come to: without names, or with `*`, everything is wanted. */
export function readSubscription(
  subscribe: unknown,
  unsubscribe: unknown,
  known: Readonly<Record<string, unknown>>,
  limits: Limits,
): Subscription | { readonly problem: string } {
  const wanted = distinctNames("resource_names_subscribe", subscribe, limits);
  if ("problem" in wanted) return wanted;
  const gone = distinctNames("resource_names_unsubscribe", unsubscribe, limits);
  if ("problem" in gone) return gone;
  const versions = new Map<string, string>();
  for (const [name, version] of Object.entries(known)) {
    if (!isName(name, limits) || !isName(version, limits)) {
      return { problem: `initial_resource_versions is not a map of texts of at most ${limits.nameBytes} bytes` };
    }
    versions.set(name, version);
    if (versions.size > limits.knownResources) {
      return { problem: `initial_resource_versions has more than ${limits.knownResources} entries` };
    }
  }
  for (const name of gone.names) versions.delete(name);
  const all = wanted.names.length === 0 || wanted.names.includes("*");
  return { names: all ? undefined : wanted.names, known: versions };
}
