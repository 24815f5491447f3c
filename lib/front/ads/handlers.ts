import type { DescMessage, DescMethodBiDiStreaming, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createConnectRouter } from "@connectrpc/connect";
import type { Compression, UniversalHandler } from "@connectrpc/connect/protocol";
import { AggregatedDiscoveryService } from "../../../gen/envoy/service/discovery/v3/ads_pb.ts";
import { DeltaQuestionSchema, DiscoveryQuestionSchema } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { createBudget } from "../../limits/budget.ts";
import type { Limits } from "../../limits/limits.ts";
import { copies } from "../connect/answers.ts";
import { callerKey, readOptions, toConnectError } from "../connect/calls.ts";
import { guarded } from "../connect/guarded.ts";
import type { Front } from "../front.ts";
import { createDifferences } from "./differences.ts";
import type { StreamKind } from "./due.ts";
import { deltaMessage, valuesOf, wholeMessage } from "./messages.ts";
import { deltaRequest, wholeRequest } from "./requests.ts";
import { createSaidRefusals } from "./said-refusals.ts";
import { discoveryStream, type StreamAnswer, type StreamOptions, type StreamRequest } from "./stream.ts";

/** Envoy's aggregated discovery over gRPC: state of the world and delta, from the `stream` shape of snapshots. */
export function adsHandlers(front: Front, acceptCompression: Compression[]): readonly UniversalHandler[] {
  const { reader, limits } = front;
  const refusals = createSaidRefusals(reader, Date.now, front.onRefusal, limits);
  front.heard.push(refusals.explained);
  const sources = { reader, differences: createDifferences(reader) };
  const shared = { sources, refusals, budget: createBudget(limits.watchedBytes) };
  const { streamAggregatedResources, deltaAggregatedResources } = AggregatedDiscoveryService.method;
  const { pollBytes, deltaBytes } = limits;
  return [
    handlerOf(front, shared, {
      kind: "whole",
      rpc: { ...streamAggregatedResources, input: DiscoveryQuestionSchema },
      maxBytes: pollBytes,
      read: wholeRequest,
      message: wholeMessage,
      acceptCompression,
    }),
    handlerOf(front, shared, {
      kind: "delta",
      rpc: { ...deltaAggregatedResources, input: DeltaQuestionSchema },
      maxBytes: deltaBytes,
      read: deltaRequest,
      message: deltaMessage,
      acceptCompression,
    }),
  ];
}

interface Method<I extends DescMessage, O extends DescMessage> {
  readonly kind: StreamKind;
  /** With an input of ours, that has some of the fields of the method's own under the same numbers. */
  readonly rpc: DescMethodBiDiStreaming<I, O>;
  readonly maxBytes: number;
  readonly acceptCompression: Compression[];
  read(question: MessageShape<I>, limits: Limits): StreamRequest;
  message(answer: StreamAnswer, values: readonly Uint8Array[]): MessageShape<O>;
}

function handlerOf<I extends DescMessage, O extends DescMessage>(
  front: Front,
  shared: Pick<StreamOptions<unknown>, "sources" | "refusals" | "budget">,
  { kind, rpc, maxBytes, acceptCompression, read, message }: Method<I, O>,
): UniversalHandler {
  const router = createConnectRouter({
    acceptCompression,
    connect: false,
    grpcWeb: false,
    readMaxBytes: maxBytes,
    binaryOptions: readOptions,
  });
  async function* requests(questions: AsyncIterable<MessageShape<I>>): AsyncGenerator<StreamRequest> {
    for await (const question of questions) yield read(question, front.limits);
  }
  router.rpc(rpc, async function* (questions, { signal, values }) {
    const caller = values.get(callerKey);
    if (caller === undefined) throw new ConnectError("nobody has asked who calls", Code.Unauthenticated);
    const write = async (answer: StreamAnswer) => {
      const found = await valuesOf(front.reader, answer);
      const bytes = found.reduce((sum, { length }) => sum + length, 0);
      const leave = await front.answers.enter(copies * bytes, signal);
      return { message: message(answer, found), leave };
    };
    const options = { kind, caller, signal, ...shared, write };
    try {
      yield* discoveryStream(front, requests(questions), options);
    } catch (cause) {
      throw toConnectError(front, cause);
    }
  });
  const [handler] = router.handlers;
  if (handler === undefined) throw new Error("a router has a handler for what it was given");
  return guarded(front, handler);
}
