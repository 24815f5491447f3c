import { fieldsOf, jsonIn, textOf } from "../../base/untyped.ts";
import { type CoreType, typeUrlOf } from "../../snapshot/resource-type.ts";
import { problemIn } from "../problem-text.ts";
import type { Deployment, PolledNode } from "./deployment.ts";
import { type Answer, exchange, shownText } from "./exchange.ts";

/** The largest answer that is read: a mesh of ten thousand services has clusters of some 30 MiB. */
const maxAnswerBytes = 128 * 1024 * 1024;

export const pollPath = (type: CoreType): string => `/v3/discovery:${type}`;

/** A poll, as Envoy sends it. */
export interface Poll {
  readonly type: CoreType;
  readonly node: PolledNode;
  readonly names?: readonly string[];
  /** What the node has. */
  readonly version?: string;
  /** How long the node says that it waits for an answer; absent: it waits for none. */
  readonly patienceMs?: number;
}

export const pollFields = ({ type, node, names, version }: Poll) => ({
  ...(version === undefined ? {} : { version_info: version }),
  node,
  ...(names === undefined ? {} : { resource_names: names }),
  type_url: typeUrlOf(type),
});

export const authorizationOf = (token: string | undefined): Readonly<Record<string, string>> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** @param token absent: none is sent */
export function sendPoll(deployment: Deployment, poll: Poll, token: string | undefined): Promise<Answer> {
  const patience = poll.patienceMs === undefined ? {} : { "x-envoy-expected-rq-timeout-ms": String(poll.patienceMs) };
  return exchange(deployment, {
    method: "POST",
    path: pollPath(poll.type),
    headers: { "content-type": "application/json", ...patience, ...authorizationOf(token) },
    body: JSON.stringify(pollFields(poll)),
    maxBytes: maxAnswerBytes,
  });
}

/** An answer that brings resources. */
export interface Polled {
  readonly version: string;
  readonly resources: readonly unknown[];
  readonly bytes: number;
}

/** @returns undefined for what is no answer to a poll of this type */
export function polledIn(type: CoreType, bytes: Buffer): Polled | undefined {
  const fields = fieldsOf(jsonIn(bytes.toString("utf8")));
  const { resources } = fields;
  const version = textOf(fields.version_info);
  if (version === "" || fields.type_url !== typeUrlOf(type) || !Array.isArray(resources)) return undefined;
  return { version, resources, bytes: bytes.length };
}

/** What an answer says that brings none. */
export const refusalIn = (bytes: Buffer): string => shownText(problemIn(bytes.toString("utf8")).detail);

/** What to do about the status of an answer to a poll. */
export function pollRemedy(status: number, token: string | undefined): string {
  if (status === 401 && token === undefined)
    return "give a node's token with --token-file: `portolan token create --namespace NAMESPACE` makes one";
  if (status === 401)
    return "give a token of a key that this front trusts, and that has not expired (docs/security.md)";
  if (status === 403)
    return "give a token that is good for this node: its namespace and service account are in the token";
  if (status === 404)
    return "check the node's name against `portolan bootstrap`, which lists the proxies that have a class";
  if (status === 413) return "raise the request size limit of the proxy before the front to 1 MiB";
  if (status === 429) return "raise the limit of requests for an address (RATE_LIMIT), or wait a minute";
  if (status >= 500) return "see the front's log for the reason; try again if it is busy";
  return "check the proxies and load balancers between here and the front";
}
