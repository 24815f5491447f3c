import { Code, ConnectError } from "@connectrpc/connect";
import type { Complaint, DeltaQuestion, DiscoveryQuestion } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import type { Limits } from "../../limits/limits.ts";
import { maxErrorLength } from "../../streams/mentioned-names.ts";
import { isWhole, servedTypeOf } from "../../streams/served-type.ts";
import type { StreamRequest } from "../../streams/stream.ts";
import { askedDelta, askedWhole } from "../../streams/watch.ts";
import { claimsOf } from "../connect/node-claims.ts";
import { readSubscription } from "../delta/delta-request.ts";
import { beginningOf, distinctNames, isName } from "../excess.ts";

/** A DiscoveryRequest of a stream. @throws ConnectError for what asks for too much */
export function wholeRequest(question: DiscoveryQuestion, limits: Limits): StreamRequest {
  const { versionInfo: version, resourceNames, responseNonce: nonce, typeUrl } = question;
  checkTexts({ version_info: version, response_nonce: nonce, type_url: typeUrl }, limits);
  const { names } = orThrow(distinctNames("resource_names", resourceNames, limits));
  const type = servedTypeOf(typeUrl);
  const request = { version, names, nonce, error: errorOf(question.errorDetail) };
  return {
    claims: () => orThrow(claimsOf(question.node, limits)).claims,
    type,
    asked: (before) => askedWhole(isWhole(type), before, request),
  };
}

/** A DeltaDiscoveryRequest of a stream. @throws ConnectError for what asks for too much */
export function deltaRequest(question: DeltaQuestion, limits: Limits): StreamRequest {
  const { resourceNamesSubscribe, resourceNamesUnsubscribe, responseNonce: nonce, typeUrl } = question;
  checkTexts({ response_nonce: nonce, type_url: typeUrl }, limits);
  const { names: subscribe } = orThrow(distinctNames("resource_names_subscribe", resourceNamesSubscribe, limits));
  const { names: unsubscribe } = orThrow(distinctNames("resource_names_unsubscribe", resourceNamesUnsubscribe, limits));
  const { known } = orThrow(readSubscription([], [], question.initialResourceVersions, limits));
  const type = servedTypeOf(typeUrl);
  const request = { subscribe, unsubscribe, known, nonce, error: errorOf(question.errorDetail) };
  return {
    claims: () => orThrow(claimsOf(question.node, limits)).claims,
    type,
    asked: (before) => askedDelta(isWhole(type), before, request),
  };
}

function checkTexts(texts: Readonly<Record<string, string>>, limits: Limits): void {
  for (const [field, text] of Object.entries(texts)) {
    if (!isName(text, limits))
      throw new ConnectError(`${field} is longer than ${limits.nameBytes} bytes`, Code.InvalidArgument);
  }
}

/** Envoy's own words, so far as they are read; "" where it refuses without any. */
const errorOf = (detail: Complaint | undefined): string | undefined =>
  detail && beginningOf(detail.message, maxErrorLength);

function orThrow<T extends object>(read: T | { readonly problem: string }): T {
  if ("problem" in read) throw new ConnectError(String(read.problem), Code.InvalidArgument);
  return read;
}
