import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
} from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import type { DeltaQuestion } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { binaryResources } from "../../streams/binary-resources.ts";
import { servedTypeOf } from "../../streams/served-type.ts";
import type { Caller } from "../auth/caller.ts";
import { type DeltaAsked, readDeltaQuestion } from "../delta/delta-request.ts";
import type { KnownTreeServices, TreeQuestion } from "../delta/known-tree.ts";
import { nonceOf } from "../delta/nonce.ts";
import { deltaNow, hear, type PlaceServices, treeInForce } from "../delta/tree-in-force.ts";
import { shown } from "../excess.ts";
import type { Front, Served } from "../front.ts";
import { type Refused, refuseMisfit } from "../polls/outcome.ts";
import type { SecretSources } from "../secrets/secret-answer.ts";
import { secretsNow } from "../secrets/secret-delta.ts";
import { type Call, claimsIn, orThrow, roomFor, servedNow } from "./answers.ts";
import { connectErrorOf } from "./connect-error.ts";

/** What `DeltaFetch` in binary is answered from. */
export type DeltaFetchServices = SecretSources &
  PlaceServices &
  KnownTreeServices &
  HearServices &
  Pick<Front, "limits" | "served" | "differences">;

type HearServices = Pick<Front, "nodes" | "said">;

/**
 * What changed since the version or the versions that the request names, in the `stream` shape. As in JSON, but never held: a version that
 * is current gets `already_exists`.
 *
 * @param secretBinary writes a secret; absent where its descriptors would weigh too much: there secrets are asked for in JSON
 * @throws ConnectError
 */
export async function deltaFetch(
  front: DeltaFetchServices,
  question: DeltaQuestion,
  call: Call,
  secretBinary: SecretBinary | undefined,
): Promise<DeltaDiscoveryResponse> {
  const { typeUrl } = question;
  const type = servedTypeOf(typeUrl);
  if (type === undefined) throw new ConnectError(`no such type: ${shown(typeUrl)}`, Code.InvalidArgument);
  const node = claimsIn(front, question.node);
  const request = { node, ...orThrow(readDeltaQuestion(question, front.limits)) };
  const refused = refuseMisfit(call.caller, node);
  if (refused !== undefined) throw connectErrorOf(refused);
  const served = await servedNow(front, node);
  const parts =
    type === "secrets"
      ? await secretParts(front, served, request, call.caller, secretBinary)
      : await resourceParts(front, served, request, { node, caller: call.caller, type, shape: "stream" });
  return deltaResponse(typeUrl, parts, call);
}

/** Writes a secret in proto JSON as a message. */
export type SecretBinary = (resource: object) => Uint8Array;

interface DeltaParts {
  readonly version: string;
  readonly nonce: string;
  readonly changed: readonly { readonly name: string; readonly version: string; readonly value: Uint8Array }[];
  readonly removed: readonly string[];
}

async function secretParts(
  front: SecretSources & HearServices & Pick<Front, "place">,
  { loaded, apart }: Served,
  request: DeltaAsked,
  caller: Caller,
  secretBinary: SecretBinary | undefined,
): Promise<DeltaParts> {
  if (secretBinary === undefined)
    throw new ConnectError("secrets are given in JSON here, not in binary", Code.Unimplemented);
  const now = orRefuse(await secretsNow(front, loaded, request, caller));
  const { version, classId, removed } = now;
  const speaker = { node: request.node, caller, type: "secrets", shape: "stream", version, classId } as const;
  hear(front, { ...speaker, root: loaded.hash, apart }, request, true);
  needNews(version, request);
  const changed = now.changed.map(({ resource, ...named }) => ({ ...named, value: secretBinary(resource) }));
  return { version, nonce: version, changed, removed };
}

async function resourceParts(
  front: PlaceServices & KnownTreeServices & HearServices & Pick<Front, "differences">,
  { loaded, apart }: Served,
  request: DeltaAsked,
  question: TreeQuestion,
): Promise<DeltaParts> {
  const force = orRefuse(await treeInForce(front, loaded, question));
  const { version, root } = force;
  hear(front, { ...question, ...force, apart }, request, true);
  needNews(version, request);
  const { changed, removed } = orRefuse(await deltaNow(front, force, question, request));
  const values = await binaryResources(front.reader, changed);
  return {
    version,
    nonce: nonceOf(version, root),
    changed: changed.map(({ name, version: own }, i) => ({ name, version: own, value: values[i] ?? new Uint8Array() })),
    removed,
  };
}

/** @throws ConnectError: an empty answer would say that something has changed */
function needNews(version: string, { held }: DeltaAsked): void {
  if (version === held?.version) throw new ConnectError("the version is current", Code.AlreadyExists);
}

async function deltaResponse(
  typeUrl: string,
  { version: systemVersionInfo, nonce, changed, removed }: DeltaParts,
  call: Call,
): Promise<DeltaDiscoveryResponse> {
  const values = changed.map(({ value }) => value);
  await roomFor(values, call);
  return create(DeltaDiscoveryResponseSchema, {
    systemVersionInfo,
    nonce,
    typeUrl,
    resources: changed.map(({ name, version, value }) => ({ name, version, resource: { typeUrl, value } })),
    removedResources: [...removed],
  });
}

function orRefuse<T extends object>(found: T | Refused): T {
  if (isRefused(found)) throw connectErrorOf(found);
  return found;
}

const isRefused = (found: object): found is Refused => "kind" in found && found.kind === "refused";
