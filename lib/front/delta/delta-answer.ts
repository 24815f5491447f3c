import { bytesOf } from "../../limits/read-body.ts";
import { labelsOf } from "../../snapshot/classifier.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import { type ResourceType, type ShapeName, typeOfUrl, typeUrlOf } from "../../snapshot/resource-type.ts";
import type { LoadedRoot, SnapshotReader } from "../../snapshot/snapshot-reader.ts";
import type { Caller } from "../auth/caller.ts";
import { shown } from "../excess.ts";
import type { Front, Served } from "../front.ts";
import { confirmerOf } from "../heads/confirmations.ts";
import { placeNode } from "../nodes/place-node.ts";
import type { Asking } from "../polls/asking.ts";
import type { ChunkedBody } from "../polls/discovery-body.ts";
import { holdUntilMs, stillHolding } from "../polls/hold.ts";
import { noRoomForAnswer, type Refused, refuse, refuseMisfit, refuseUnplaced } from "../polls/outcome.ts";
import { switchingOf } from "../polls/polled-switch.ts";
import { readRequest } from "../polls/read-request.ts";
import { type DeltaAnswer, deltaFor } from "./delta.ts";
import { type DeltaRequest, readDelta } from "./delta-request.ts";

/** A delta request in JSON, but for its body. */
export interface DeltaPoll extends Asking {
  /** undefined: the request's own `type_url` says it. */
  readonly type: ResourceType | undefined;
  readonly shape: ShapeName;
}

export type DeltaPollAnswer =
  | { readonly kind: "changed"; readonly body: ChunkedBody }
  | { readonly kind: "unchanged" }
  | Refused;

/** Answers a delta request with what changed; holds it, like a poll, while its version is current. */
export async function answerDelta(front: Front, poll: DeltaPoll): Promise<DeltaPollAnswer> {
  const read = await readRequest(front, poll.body, front.limits.deltaBytes, (body) =>
    readDelta(new TextDecoder().decode(bytesOf(body)), front.limits, front.extensionLists),
  );
  if (!("request" in read)) return read;
  const { request } = read;
  const type = poll.type ?? typeOfUrl(request.typeUrl ?? "");
  if (type === undefined) return refuse(400, "bad-request", "type_url names no type that is served here");
  const { node } = request;
  const refused = refuseMisfit(poll.caller, node);
  if (refused !== undefined) return refused;
  const untilMs = holdUntilMs(front, poll.patienceMs);
  const by = confirmerOf(node.id, poll.caller);
  if (type === "clusters") front.confirmations.told(by, request.version ?? "");
  const who = { nodeId: node.id, type };
  for (let isHeard = false; ; isHeard = true) {
    const count = front.confirmations.count(by);
    const switching = switchingOf(front, { node, caller: poll.caller, shape: poll.shape });
    const served = await front.served({ nodeId: node.id, labels: () => labelsOf(node) }, switching);
    if (served === undefined) return refuse(503, "unavailable", "nothing was published yet");
    const delta = await deltaNow(front, served.loaded, { type, shape: poll.shape, caller: poll.caller }, request);
    if ("kind" in delta) return delta;
    // Once: while it is held its node may say something else in another request.
    if (request.complaint === undefined && !isHeard) front.said.mended(who);
    if (request.complaint !== undefined && delta.version === request.version) {
      const { words: error, names } = request.complaint;
      const { version, classId } = delta;
      front.said.refused(who, {
        answer: { version, kept: undefined, classId, root: served.loaded.hash },
        names,
        error,
      });
    }
    if (delta.version !== request.version && !(await isOfLater(front, served, { ...poll, type }, request))) {
      const leave = front.answers.tryEnter(ownBytes(delta));
      if (leave === undefined) return refuse(503, "busy", noRoomForAnswer);
      return { kind: "changed", body: { ...(await deltaBody(front.reader, type, delta)), sent: leave } };
    }
    const confirmed = served.ahead.length > 0 ? { by, count } : undefined;
    const waiting = { untilMs, bytes: request.bytes, signal: poll.signal, confirmed };
    if (!(await stillHolding(front, served.state, waiting))) return { kind: "unchanged" };
  }
}

/** Whether a reader of a whole type has it as a step to come has it. */
async function isOfLater(
  front: Front,
  { ahead }: Served,
  { type, shape, caller }: Pick<DeltaPoll, "shape" | "caller"> & { readonly type: ResourceType },
  { node, version, names }: DeltaRequest,
): Promise<boolean> {
  if (version === undefined || names !== undefined) return false;
  for (const loaded of ahead) {
    const placement = await placeNode(front.reader, loaded, node, caller);
    const proxyClass = placement.kind === "placed" ? loaded.classes.get(placement.classId) : undefined;
    const tree = proxyClass && (await front.reader.tree(loaded.root, type, proxyClass[shape][type]));
    if (tree !== undefined && wireVersion(tree.version) === version) return true;
  }
  return false;
}

/** What a request comes to in the root in force, or why it comes to nothing. */
export async function deltaNow(
  front: Front,
  loaded: LoadedRoot,
  { type, shape, caller }: { readonly type: ResourceType; readonly shape: ShapeName; readonly caller: Caller },
  { node, typeUrl, names, known }: Omit<DeltaRequest, "version" | "bytes" | "complaint">,
): Promise<(DeltaAnswer & { readonly classId: string }) | Refused> {
  if (typeUrl !== undefined && typeUrl !== typeUrlOf(type)) {
    return refuse(
      400,
      "bad-request",
      `type_url ${shown(typeUrl)} does not belong to this path; ${typeUrlOf(type)} does`,
    );
  }
  const placement = await front.place(loaded, node, caller);
  if (placement.kind !== "placed") return refuseUnplaced(placement);
  const { classId } = placement;
  const delta = await deltaFor(front.reader, loaded, { classId, shape, type, names, known });
  return delta === undefined ? refuse(404, "unknown-node", `there is no class "${classId}"`) : { ...delta, classId };
}

/** About what an answer takes besides the stored texts, in bytes: its list, and the names that its reader came with, twice. */
function ownBytes({ changed, removed }: DeltaAnswer): number {
  return 150 * changed.length + removed.reduce((sum, { length }) => sum + 100 + 2 * length, 0);
}

/** A DeltaDiscoveryResponse in proto JSON, around the stored texts. What stands around them is made anew when it is asked for. */
async function deltaBody(reader: SnapshotReader, type: ResourceType, delta: DeltaAnswer): Promise<ChunkedBody> {
  const encoder = new TextEncoder();
  const prefix = encoder.encode(`{"system_version_info":"${delta.version}","resources":[`);
  const removed = delta.removed.length === 0 ? "" : `"removed_resources":${JSON.stringify(delta.removed)},`;
  const suffix = encoder.encode(`],"type_url":"${typeUrlOf(type)}",${removed}"nonce":"${delta.version}"}\n`);

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
