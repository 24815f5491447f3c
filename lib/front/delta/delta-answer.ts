import { labelsOf } from "../../base/classifier.ts";
import { bytesOf, type ReadBody } from "../../limits/read-body.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { type ResourceType, type ShapeName, typeUrlOf } from "../../snapshot/resource-type.ts";
import type { DeltaAnswer } from "../../streams/delta.ts";
import { type ServedType, servedTypeOf, urlOfServed } from "../../streams/served-type.ts";
import { shown } from "../excess.ts";
import type { Front, Served } from "../front.ts";
import { ackSourceOf } from "../heads/cds-acks.ts";
import type { Outcome } from "../metrics.ts";
import { placeNode } from "../nodes/place-node.ts";
import { requestingNodeOf } from "../nodes/requesting-node.ts";
import type { ChunkedBody } from "../polls/discovery-body.ts";
import { type HoldBounds, type HoldServices, holdUntilMs, stillHolding } from "../polls/hold.ts";
import { noRoomForAnswer, type Refused, refuse, refuseMisfit } from "../polls/outcome.ts";
import { type SwitchServices, switchingOf } from "../polls/polled-switch.ts";
import { requestIn } from "../polls/read-request.ts";
import type { Sender } from "../polls/sender.ts";
import { answerSecretDelta, type SecretServices, type SecretsNow } from "../secrets/secret-delta.ts";
import { type DeltaRequest, readDelta } from "./delta-request.ts";
import type { KnownTreeServices, TreeQuestion } from "./known-tree.ts";
import { nonceOf } from "./nonce.ts";
import { deltaNow, hear, type PlaceServices, type TreeInForce, treeInForce } from "./tree-in-force.ts";

/** What delta requests are answered from. */
export type DeltaServices = ResourceServices & SecretServices & HoldBounds & Pick<Front, "extensionLists">;

type ResourceServices = HoldServices &
  SwitchServices &
  PlaceServices &
  KnownTreeServices &
  Pick<Front, "served" | "said" | "differences" | "answers">;

/** A delta request in JSON, but for its body. */
export interface DeltaPoll extends Sender {
  /** undefined: the request's own `type_url` says it. */
  readonly type: ServedType | undefined;
  readonly shape: ShapeName;
}

export type DeltaPollAnswer =
  | { readonly kind: "changed"; readonly body: ChunkedBody }
  | SecretsNow
  | { readonly kind: "unchanged" }
  | Refused;

/** Answers a delta request with what changed; holds it, like a poll, while its version is current. */
export async function answerDelta(front: DeltaServices, poll: DeltaPoll, body: ReadBody): Promise<DeltaPollAnswer> {
  const read = requestIn(body, (whole) =>
    readDelta(new TextDecoder().decode(bytesOf(whole)), front.limits, front.extensionLists),
  );
  if (!("request" in read)) return read;
  const { request } = read;
  const { typeUrl = "" } = request;
  const type = poll.type ?? servedTypeOf(typeUrl);
  if (type === undefined) return refuse(400, "bad-request", "type_url names no type that is served here");
  const answer = await answerOfType(front, { ...poll, type }, request);
  front.metrics.poll(type, outcomeOf(answer));
  return answer;
}

function outcomeOf(answer: DeltaPollAnswer): Outcome {
  if (answer.kind === "refused") return answer.outcome;
  return answer.kind === "secrets" ? "changed" : answer.kind;
}

async function answerOfType(
  front: DeltaServices,
  poll: DeltaPoll & { readonly type: ServedType },
  request: DeltaRequest,
): Promise<DeltaPollAnswer> {
  const { type, shape, caller, signal, patienceMs } = poll;
  const { typeUrl } = request;
  if (typeUrl !== undefined && typeUrl !== urlOfServed(type)) {
    const reason = `type_url ${shown(typeUrl)} does not belong to this path; ${urlOfServed(type)} does`;
    return refuse(400, "bad-request", reason);
  }
  const refused = refuseMisfit(caller, request.node);
  if (refused !== undefined) return refused;
  const untilMs = holdUntilMs(front, patienceMs);
  if (type === "secrets") return answerSecretDelta(front, { caller, shape, signal, untilMs }, request);
  return answerResources(front, { ...poll, type }, untilMs, request);
}

async function answerResources(
  front: ResourceServices,
  { type, shape, caller, signal }: DeltaPoll & { readonly type: ResourceType },
  untilMs: number,
  request: DeltaRequest,
): Promise<DeltaPollAnswer> {
  const { node, held, bytes } = request;
  const question = { node, caller, type, shape };
  const by = ackSourceOf(node.id, caller);
  if (type === "clusters") front.cdsAcks.observed(by, held?.version ?? "");
  for (let isNew = true; ; isNew = false) {
    const count = front.cdsAcks.count(by);
    const served = await front.served({ nodeId: node.id, labels: () => labelsOf(node) }, switchingOf(front, question));
    if (served === undefined) return refuse(503, "unavailable", "nothing was published yet");
    const force = await treeInForce(front, served.loaded, question);
    if ("kind" in force) return force;
    // Once: while it is held its node may say something else in another request.
    hear(front, { ...question, ...force, apart: served.apart }, request, isNew);
    if (held?.version !== force.version && !(await isOfLater(front, served, question, request))) {
      const delta = await deltaNow(front, force, question, request);
      if ("kind" in delta) return delta;
      const leave = front.answers.tryEnter(ownBytes(delta));
      if (leave === undefined) return refuse(503, "busy", noRoomForAnswer);
      return { kind: "changed", body: { ...(await deltaBody(front.reader, type, force, delta)), sent: leave } };
    }
    const acked = served.ahead.length > 0 ? { by, count } : undefined;
    const who = { ...requestingNodeOf(caller, node), type, name: "" };
    const waiting = { untilMs, bytes, who, signal, acked };
    if (!(await stillHolding(front, served.state, waiting))) return { kind: "unchanged" };
  }
}

/** Whether a reader of a whole type has it as a step to come has it. */
async function isOfLater(
  front: Pick<Front, "reader">,
  { ahead }: Served,
  { node, caller, type, shape }: TreeQuestion,
  { held, names }: DeltaRequest,
): Promise<boolean> {
  if (held === undefined || names !== undefined) return false;
  for (const loaded of ahead) {
    const placement = await placeNode(front.reader, loaded, node, caller);
    const proxyClass = placement.kind === "placed" ? loaded.classes.get(placement.classId) : undefined;
    const tree = proxyClass && (await front.reader.tree(loaded.root, type, proxyClass[shape][type]));
    if (tree !== undefined && wireVersion(tree.version) === held.version) return true;
  }
  return false;
}

/** About what an answer takes besides the stored texts, in bytes: its list, and the names that its reader came with, twice. */
function ownBytes({ changed, removed }: DeltaAnswer): number {
  return 150 * changed.length + removed.reduce((sum, { length }) => sum + 100 + 2 * length, 0);
}

/** A DeltaDiscoveryResponse in proto JSON, around the stored texts. What stands around them is made anew when it is asked for. */
async function deltaBody(
  reader: SnapshotReader,
  type: ResourceType,
  { version: whole, root }: TreeInForce,
  delta: DeltaAnswer,
): Promise<ChunkedBody> {
  const encoder = new TextEncoder();
  const prefix = encoder.encode(`{"system_version_info":"${whole}","resources":[`);
  const removed = delta.removed.length === 0 ? "" : `"removed_resources":${JSON.stringify(delta.removed)},`;
  const suffix = encoder.encode(`],"type_url":"${typeUrlOf(type)}",${removed}"nonce":"${nonceOf(whole, root)}"}\n`);

  async function* resources() {
    for (const [i, { name, version, segment }] of delta.changed.entries()) {
      yield encoder.encode(`${i > 0 ? "," : ""}\n{"name":${JSON.stringify(name)},"version":"${version}","resource":`);
      yield* reader.texts(segment, name);
      yield encoder.encode("}");
    }
  }

  let bytes = prefix.length + suffix.length;
  for await (const { length } of resources()) bytes += length;
  return {
    bytes,
    async *chunks() {
      yield prefix;
      yield* resources();
      yield suffix;
    },
  };
}
