import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { AggregatedDiscoveryService } from "../../../gen/envoy/service/discovery/v3/ads_pb.ts";
import { DeltaQuestionSchema, DiscoveryQuestionSchema } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { createBudget } from "../../limits/budget.ts";
import type { Limits } from "../../limits/limits.ts";
import { secretTypeUrl } from "../../secrets/tls-secret.ts";
import { typeUrlOf } from "../../snapshot/resource-type.ts";
import type { StreamKind } from "../../streams/due.ts";
import type { Written } from "../../streams/grpc-framing.ts";
import { beginningOf, createResourceRuns, runOf } from "../../streams/messages.ts";
import { discoveryStream, type SecretsAnswer, type StreamAnswer, type StreamRequest } from "../../streams/stream.ts";
import { readOptions } from "../connect/calls.ts";
import type { Front } from "../front.ts";
import { frontHost } from "./front-host.ts";
import { answerStream } from "./grpc-stream.ts";
import { deltaRequest, wholeRequest } from "./requests.ts";
import { createSaidRefusals } from "./said-refusals.ts";

type Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** Envoy's aggregated discovery over gRPC by its paths: state of the world and delta, from the `stream` shape of snapshots. */
export function adsListeners(front: Front): ReadonlyMap<string, Listener> {
  const { reader, differences, limits } = front;
  const refusals = createSaidRefusals(reader, Date.now, front.onRefusal, limits);
  front.heard.push(refusals);
  const sources = { reader, differences, known: new WeakMap() };
  const runs = createResourceRuns(reader);
  const shared = { sources, refusals, budget: createBudget(limits.watchedBytes) };

  function listen<I extends DescMessage>(
    kind: StreamKind,
    maxBytes: number,
    input: I,
    read: (question: MessageShape<I>, limits: Limits) => StreamRequest,
  ): Listener {
    return answerStream(front, maxBytes, ({ caller, messages, signal }) => {
      async function* requests(): AsyncGenerator<StreamRequest> {
        for await (const message of messages) yield read(questionOf(input, message), limits);
      }
      const write = async (answer: StreamAnswer) => {
        const run = await runs.of(answer);
        const leave = await front.answers.enter(run.length, signal);
        return { message: [beginningOf({ ...answer, typeUrl: typeUrlOf(answer.type) }), run], leave };
      };
      // Nobody else is told the same, and nobody is to find it in memory later.
      const writeSecrets = ({ changed, ...answer }: SecretsAnswer): Written => {
        const values = changed.map(({ value }) => value);
        return [beginningOf({ ...answer, typeUrl: secretTypeUrl }), runOf(kind, secretTypeUrl, values, changed)];
      };
      const host = frontHost(front, kind, caller, shared);
      return discoveryStream(host, requests(), { kind, signal, write, writeSecrets });
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
