import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import type { DiscoveryQuestion } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { labelsOf, type NodeClaims } from "../../base/classifier.ts";
import { isWildcard, type ResourceType, typeUrlOf } from "../../snapshot/resource-type.ts";
import { binaryResources } from "../../streams/binary-resources.ts";
import { selectResources } from "../../streams/select-resources.ts";
import type { Caller } from "../auth/caller.ts";
import { distinctNames, shown } from "../excess.ts";
import type { Front, Served } from "../front.ts";
import { requestingNodeOf } from "../nodes/requesting-node.ts";
import { refuseUnplaced } from "../polls/outcome.ts";
import { connectErrorOf } from "./connect-error.ts";
import { claimsOf } from "./node-claims.ts";

/** A call in binary, whichever protocol it came by. */
export interface Call {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Waits until there is room for an answer of so many bytes; the room is kept until the answer is with its reader. */
  capacity(bytes: number): Promise<void>;
}

/** What Fetch calls in binary are answered from. */
export type FetchServices = Pick<Front, "limits" | "nodes" | "place" | "reader" | "served">;

/**
 * Envoy's Fetch methods, in the `poll` shape. A version that is current gets `already_exists`: an empty answer would say that
 * nothing exists.
 *
 * @throws ConnectError
 */
export async function fetchType(
  front: FetchServices,
  type: ResourceType,
  question: DiscoveryQuestion,
  call: Call,
): Promise<DiscoveryResponse> {
  const node = claimsIn(front, question.node);
  const { names } = orThrow(distinctNames("resource_names", question.resourceNames, front.limits));
  const { loaded, apart } = await servedNow(front, node);
  const placement = await front.place(loaded, node, call.caller);
  if (placement.kind !== "placed") throw connectErrorOf(refuseUnplaced(placement));
  const { classId } = placement;
  const selection = await selectResources(front.reader, loaded, { classId, shape: "poll", type, names });
  if (selection === undefined) throw new ConnectError(`there is no class "${classId}"`, Code.NotFound);
  if (selection.parts.length === 0 && names.length > 0) {
    throw new ConnectError(`no ${type} named ${shown(names.join(", "))}`, Code.NotFound);
  }
  const name = isWildcard(type) ? "" : names[0];
  if (name !== undefined && names.length <= 1)
    front.nodes.has({ ...requestingNodeOf(call.caller, node), type, name }, question.versionInfo || undefined, "poll", {
      classId,
      root: apart,
    });
  if (selection.version === question.versionInfo) throw new ConnectError("the version is current", Code.AlreadyExists);
  const typeUrl = typeUrlOf(type);
  const values = await binaryResources(front.reader, selection.parts);
  await roomFor(values, call);
  const resources = values.map((value) => ({ typeUrl, value }));
  return create(DiscoveryResponseSchema, { versionInfo: selection.version, typeUrl, resources });
}

/** A message, its encoded form and the frame around that are copies. */
const copies = 3;

export function roomFor(values: readonly Uint8Array[], call: Call): Promise<void> {
  return call.capacity(copies * values.reduce((sum, { length }) => sum + length, 0));
}

/** Who asks. @throws ConnectError */
export function claimsIn(front: Pick<Front, "limits">, node: DiscoveryQuestion["node"]): NodeClaims {
  return orThrow(claimsOf(node, front.limits)).claims;
}

/** @throws ConnectError for a request that is not right */
export function orThrow<T extends object>(read: T | { readonly problem: string }): T {
  if ("problem" in read) throw new ConnectError(String(read.problem), Code.InvalidArgument);
  return read;
}

/** What a node is served from. @throws ConnectError before the first publish */
export async function servedNow(front: Pick<Front, "served">, node: NodeClaims): Promise<Served> {
  const served = await front.served({ nodeId: node.id, labels: () => labelsOf(node) });
  if (served === undefined) throw new ConnectError("nothing was published yet", Code.Unavailable);
  return served;
}
