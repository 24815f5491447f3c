import type { Carrier } from "../limits/read-body.ts";
import { labelsOf } from "../snapshot/classifier.ts";
import { type ResourceType, type ShapeName, typeOfUrl, typeUrlOf } from "../snapshot/resource-type.ts";
import type { LoadedRoot, SnapshotReader } from "../snapshot/snapshot-reader.ts";
import type { Caller } from "./auth/caller.ts";
import { type DeltaAnswer, deltaFor } from "./delta.ts";
import { type DeltaRequest, readDelta } from "./delta-request.ts";
import type { ChunkedBody } from "./discovery-body.ts";
import { shown } from "./excess.ts";
import type { Front } from "./front.ts";
import { holdUntilMs, stillHolding } from "./hold.ts";
import { type Refused, refuse, refuseUnplaced } from "./outcome.ts";
import { readRequest } from "./read-request.ts";

/** What is known of a delta request in JSON besides its body. */
export interface DeltaPoll {
  readonly caller: Caller;
  /** undefined: the request's own `type_url` says it. */
  readonly type: ResourceType | undefined;
  readonly shape: ShapeName;
  readonly patienceMs: number;
  readonly signal?: AbortSignal;
}

export type DeltaPollAnswer =
  | { readonly kind: "changed"; readonly body: ChunkedBody }
  | { readonly kind: "unchanged" }
  | Refused;

/** Answers a delta request with what changed; holds it, like a poll, while its version is current. */
export async function answerDelta(front: Front, carrier: Carrier, poll: DeltaPoll): Promise<DeltaPollAnswer> {
  const read = await readRequest(front, carrier, front.limits.deltaBytes, readDelta);
  if (!("request" in read)) return read;
  const { request } = read;
  const type = poll.type ?? typeOfUrl(request.typeUrl ?? "");
  if (type === undefined) return refuse(400, "bad-request", "type_url names no type that is served here");
  const untilMs = holdUntilMs(front, poll.patienceMs);
  const who = { nodeId: request.node.id, type };
  for (;;) {
    const served = await front.served({ nodeId: request.node.id, labels: () => labelsOf(request.node) });
    if (served === undefined) return refuse(503, "unavailable", "nothing was published yet");
    const delta = await deltaNow(front, served.loaded, { type, shape: poll.shape, caller: poll.caller }, request);
    if ("kind" in delta) return delta;
    if (request.complaint === undefined) front.said.mended(who);
    else if (delta.version === request.version) {
      const { words: error, names } = request.complaint;
      const { version, classId } = delta;
      front.said.refused(who, {
        answer: { version, kept: undefined, classId, root: served.loaded.hash },
        names,
        error,
      });
    }
    if (delta.version !== request.version) {
      const leave = front.answers.tryEnter(ownBytes(delta));
      if (leave === undefined) return refuse(503, "busy", "too many answers are under way; try again");
      return { kind: "changed", body: { ...(await deltaBody(front.reader, type, delta)), sent: leave } };
    }
    const waiting = { untilMs, bytes: request.bytes, signal: poll.signal };
    if (!(await stillHolding(front, served.state, waiting))) return { kind: "unchanged" };
  }
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
      const { bytes, spans } = await reader.segment(segment);
      const span = spans.get(name);
      if (span === undefined) continue;
      yield encoder.encode(`${i > 0 ? "," : ""}\n{"name":${JSON.stringify(name)},"version":"${version}","resource":`);
      yield bytes.subarray(span.offset, span.offset + span.bytes);
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
