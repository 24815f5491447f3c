import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { SecretDiscoveryService } from "../../../gen/envoy/service/secret/v3/sds_pb.ts";
import { type DiscoveryQuestion, DiscoveryQuestionSchema } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { hashOf } from "../../base/blob.ts";
import { secretTypeUrl } from "../../secrets/tls-secret.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import { secretBinary } from "../../streams/secret-binary.ts";
import { requestingNodeOf } from "../nodes/requesting-node.ts";
import { refuseUnplaced } from "../polls/outcome.ts";
import { secretFor, secretsOf } from "../secrets/secret-answer.ts";
import { type Call, claimsIn, servedNow } from "./answers.ts";
import { type BinarySecrets, callOf, type DiscoveryCall, type SecretCallServices } from "./calls.ts";
import { connectErrorOf } from "./connect-error.ts";

const secretCall = (front: SecretCallServices): DiscoveryCall =>
  callOf(
    front,
    SecretDiscoveryService.method.fetchSecrets,
    "secrets",
    front.limits.pollBytes,
    DiscoveryQuestionSchema,
    (question, call) => fetchSecret(front, question, call),
  );

/** @throws ConnectError; `already_exists` for a version that is current */
async function fetchSecret(
  front: SecretCallServices,
  question: DiscoveryQuestion,
  call: Call,
): Promise<DiscoveryResponse> {
  const { typeUrl, versionInfo, resourceNames } = question;
  const [name = "", ...more] = resourceNames;
  if (typeUrl !== "" && typeUrl !== secretTypeUrl)
    throw new ConnectError(`type_url is not ${secretTypeUrl}`, Code.InvalidArgument);
  if (name === "" || more.length > 0)
    throw new ConnectError("secrets are fetched one by one, by name", Code.InvalidArgument);
  const node = claimsIn(front, question.node);
  const { loaded, apart } = await servedNow(front, node);
  const placement = await front.place(loaded, node, call.caller);
  if (placement.kind !== "placed") throw connectErrorOf(refuseUnplaced(placement));
  const found = await secretFor(front, call.caller, secretsOf(loaded, placement.classId), name);
  if (found.kind === "refused") throw connectErrorOf(found);
  const as = { classId: placement.classId, root: apart };
  front.nodes.has(
    { ...requestingNodeOf(call.caller, node), type: "secrets", name },
    versionInfo || undefined,
    "poll",
    as,
  );
  const version = wireVersion(hashOf(JSON.stringify([found.resource])));
  if (version === versionInfo) throw new ConnectError("the version is current", Code.AlreadyExists);
  const value = secretBinary(found.resource);
  await call.capacity(value.length);
  return create(DiscoveryResponseSchema, {
    versionInfo: version,
    typeUrl: secretTypeUrl,
    resources: [{ typeUrl: secretTypeUrl, value }],
  });
}

/**
 * Secrets in binary, by the rules of polls for secrets. For servers on Node, which speak that form on streams already: at the edge its
 * descriptors would weigh more than the front.
 */
export const binarySecrets: BinarySecrets = { write: secretBinary, call: secretCall };
