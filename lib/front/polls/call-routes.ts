import { unreachable } from "../../base/diagnostic.ts";
import type { ReadBody } from "../../limits/read-body.ts";
import { resourceTypes, type ShapeName } from "../../snapshot/resource-type.ts";
import type { ServedType } from "../../streams/served-type.ts";
import { connectProblem } from "../connect/connect-problem.ts";
import { answerDelta, type DeltaPollAnswer, type DeltaServices } from "../delta/delta-answer.ts";
import { shown } from "../excess.ts";
import { type Answer, changedHeaders, noHeaders, problem, type Sooner } from "../requests/answer.ts";
import { type Asked, plain, type Route, withBody } from "../requests/routes.ts";
import { answerSecret, type SecretPollServices, secretResponse } from "../secrets/secret-answer.ts";
import { secretDeltaBody } from "../secrets/secret-delta.ts";
import type { ChunkedBody } from "./discovery-body.ts";
import type { Refused } from "./outcome.ts";
import { answerRead, type BodyServices, type PollAnswer, type PollServices, pollLimits } from "./poll.ts";
import { patienceHeaders, senderOf } from "./sender.ts";

/** `DeltaFetch` of proto/portolan/v1/snapshot_service.proto. */
const deltaFetchPath = "/portolan.v1.SnapshotService/DeltaFetch";

export const isJson = (contentType: string): boolean => /^application\/json\b/.test(contentType);

/** What the routes under `/v3/` answer from. */
export type CallServices = PollServices & SecretPollServices & DeltaServices & BodyServices;

/** Polls for resources, secrets and deltas: `/v3/discovery:clusters`, `/v3/delta:routes?shape=poll`, and `DeltaFetch` in JSON. */
export function callRoutes(front: CallServices): readonly Route[] {
  const post = (path: string, to: Route["to"]): Route => ({ method: "POST", path, to });
  const delta = (type: ServedType) => post(`/v3/delta:${type}`, deltaHandler(front, type));
  return [
    ...resourceTypes.flatMap((type) => [
      post(
        `/v3/discovery:${type}`,
        withBody(pollLimits(front), (asked, body) =>
          once(answerRead(front, senderOf(asked, patienceHeaders.envoy), body, type), pollAnswer),
        ),
      ),
      delta(type),
    ]),
    post(
      "/v3/discovery:secrets",
      withBody(pollLimits(front), async (asked, body) =>
        secretResponse(await answerSecret(front, senderOf(asked, patienceHeaders.envoy), body)),
      ),
    ),
    delta("secrets"),
    { ...deltaFetchRoute(front) },
    post(
      "/v3/:call",
      plain(({ params: { call = "" } }) => problem(404, `there is no ${shown(call)} here`)),
    ),
  ];
}

/** The same as a call of Connect's, unary and in JSON: the request's own `type_url` says of what. */
export const deltaFetchRoute = (front: DeltaServices & BodyServices): Route => ({
  method: "POST",
  path: deltaFetchPath,
  takes: isJson,
  to: withBody(deltaLimits(front), async (asked, body) => {
    const sender = senderOf(asked, patienceHeaders.connect);
    return connectDeltaAnswer(await answerDelta(front, { ...sender, type: undefined, shape: "stream" }, body));
  }),
});

const deltaLimits = ({ limits, bodies }: BodyServices) => ({ maxBytes: limits.deltaBytes, pool: bodies });

const deltaHandler = (front: DeltaServices & BodyServices, type: ServedType) =>
  withBody(deltaLimits(front), async (asked: Asked, body: ReadBody) => {
    const shape: ShapeName = asked.query.get("shape") === "poll" ? "poll" : "stream";
    return deltaAnswer(await answerDelta(front, { ...senderOf(asked, patienceHeaders.envoy), type, shape }, body));
  });

/** Goes on with what is there at once, or when it is. */
const once = <T>(what: Sooner<T>, go: (what: T) => Answer): Sooner<Answer> =>
  what instanceof Promise ? what.then(go) : go(what);

const unchanged: Answer = { status: 304, headers: noHeaders };

export const changed = (body: ChunkedBody): Answer => ({ status: 200, headers: changedHeaders(body.bytes), body });

/** A refusal, as all but Connect's calls say it. */
const refusal = (refused: Refused): Answer => problem(refused.status, refused.reason);

function pollAnswer(answer: PollAnswer): Answer {
  switch (answer.kind) {
    case "changed":
      return changed(answer.body);
    case "unchanged":
      return unchanged;
    case "refused":
      return refusal(answer);
    default:
      return unreachable(answer);
  }
}

function deltaAnswer(answer: DeltaPollAnswer): Answer {
  return answer.kind === "secrets"
    ? secretResponse({ kind: "changed", body: secretDeltaBody(answer) })
    : pollAnswer(answer.kind === "changed" ? { ...answer, version: "", classId: "" } : answer);
}

function connectDeltaAnswer(answer: DeltaPollAnswer): Answer {
  switch (answer.kind) {
    case "unchanged":
      return connectProblem(409, "the version is current");
    case "refused":
      return connectProblem(answer.status, answer.reason);
    default:
      return deltaAnswer(answer);
  }
}
