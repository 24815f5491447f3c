import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { AggregatedDiscoveryService } from "../../../gen/envoy/service/discovery/v3/ads_pb.ts";
import {
  type DeltaQuestion,
  DeltaQuestionSchema,
  type DiscoveryQuestion,
  DiscoveryQuestionSchema,
} from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { createBudget } from "../../limits/budget.ts";
import type { Limits } from "../../limits/limits.ts";
import { createSemaphore } from "../../limits/semaphore.ts";
import { secretTypeUrl } from "../../secrets/tls-secret.ts";
import { typeUrlOf } from "../../snapshot/resource-type.ts";
import type { StreamKind } from "../../streams/due.ts";
import type { Written } from "../../streams/grpc-framing.ts";
import { beginningOf, createResourceRuns, runOf } from "../../streams/messages.ts";
import { discoveryStream, type SecretsAnswer, type StreamAnswer, type StreamRequest } from "../../streams/stream.ts";
import { readOptions } from "../connect/calls.ts";
import { type DebugServices, debugAnswers } from "../debug/debug-answers.ts";
import type { Front } from "../front.ts";
import { healthUrl, type Registration } from "../registration/registrations.ts";
import { emptyTable, lacksTable } from "./empty-table.ts";
import { frontHost, type HostServices } from "./front-host.ts";
import { answerStream, type StreamServices } from "./grpc-stream.ts";
import { createReportedNacks } from "./reported-nacks.ts";
import { deltaRequest, wholeRequest } from "./requests.ts";
import { trustBundles } from "./trust-bundles.ts";

type Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** What discovery streams, and istioctl's questions on them, are answered from. */
export type AdsServices = StreamServices &
  HostServices &
  DebugServices &
  Pick<Front, "differences" | "authority" | "onRefusal" | "heard" | "registrations" | "answers">;

/** Envoy's aggregated discovery over gRPC by its paths: state of the world and delta, from the `stream` shape of snapshots. */
export function adsListeners(front: AdsServices): ReadonlyMap<string, Listener> {
  const { reader, differences, limits, authority } = front;
  const refusals = createReportedNacks(reader, Date.now, front.onRefusal, limits);
  front.heard.push(refusals);
  const sources = { reader, differences, known: new WeakMap() };
  const runs = createResourceRuns(reader);
  const shared = { sources, refusals, budget: createBudget(limits.watchedBytes) };
  const debugRoom = createSemaphore(limits.apiCalls);

  function listen<I extends typeof DiscoveryQuestionSchema | typeof DeltaQuestionSchema>(
    kind: StreamKind,
    maxBytes: number,
    input: I,
    read: (question: MessageShape<I>, limits: Limits) => StreamRequest,
  ): Listener {
    return answerStream(front, maxBytes, ({ caller, messages, signal }) => {
      const bundles =
        authority && trustBundles({ kind, roots: () => authority.roots(), onError: (cause) => front.onError(cause) });
      const debug = debugAnswers(front, kind, caller, { tryEnter: () => debugRoom.tryEnter(1) });
      async function* requests(): AsyncGenerator<StreamRequest> {
        let isFirst = true;
        let registration: Registration | undefined;
        try {
          for await (const message of messages) {
            const question = questionOf(input, message);
            // istioctl is no node: nothing is noted of it.
            if (await debug.asked(question.typeUrl, namesIn(question))) continue;
            // The stream itself answers nothing of that type, and is told of it: it may be the first that its node says.
            bundles?.asked(question.typeUrl);
            const request = read(question, limits);
            if (isFirst && caller.kind === "node")
              registration = front.registrations?.connected(caller, request.claims());
            isFirst = false;
            if (question.typeUrl === healthUrl) registration?.health(failureIn(question));
            yield request;
          }
        } finally {
          registration?.ended();
        }
      }
      const write = async (due: StreamAnswer) => {
        const { answer, run } = lacksTable(due) ? emptyTable(due) : { answer: due, run: await runs.of(due) };
        const leave = await front.answers.enter(run.length, signal);
        return { message: [beginningOf({ ...answer, typeUrl: typeUrlOf(answer.type) }), run], leave };
      };
      // Nobody else is told the same, and nobody is to find it in memory later.
      const writeSecrets = ({ changed, ...answer }: SecretsAnswer): Written => {
        const values = changed.map(({ value }) => value);
        return [beginningOf({ ...answer, typeUrl: secretTypeUrl }), runOf(kind, secretTypeUrl, values, changed)];
      };
      const host = frontHost(front, kind, caller, shared);
      const stream = discoveryStream(host, requests(), { kind, signal, write, writeSecrets });
      return debug.among(bundles?.among(stream) ?? stream);
    });
  }
  const { streamAggregatedResources, deltaAggregatedResources } = AggregatedDiscoveryService.method;
  const pathOf = ({ name }: { readonly name: string }) => `/${AggregatedDiscoveryService.typeName}/${name}`;
  return new Map([
    [pathOf(streamAggregatedResources), listen("whole", limits.pollBytes, DiscoveryQuestionSchema, wholeRequest)],
    [pathOf(deltaAggregatedResources), listen("delta", limits.deltaBytes, DeltaQuestionSchema, deltaRequest)],
  ]);
}

/** @param input a message of ours, that has some of the fields of the method's own under the same numbers */
function questionOf<I extends DescMessage>(input: I, message: Uint8Array): MessageShape<I> {
  try {
    return fromBinary(input, message, readOptions);
  } catch (cause) {
    throw new ConnectError(`the message cannot be read: ${String(cause)}`, Code.InvalidArgument);
  }
}

/** What an agent says of a probe that failed; undefined: it is healthy. */
const failureIn = ({ errorDetail }: DiscoveryQuestion | DeltaQuestion): string | undefined =>
  errorDetail === undefined ? undefined : errorDetail.message;

const namesIn = (question: DiscoveryQuestion | DeltaQuestion): readonly string[] =>
  "resourceNames" in question ? question.resourceNames : question.resourceNamesSubscribe;
