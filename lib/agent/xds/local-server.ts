import { chmod, mkdir, rm } from "node:fs/promises";
import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
} from "node:http2";
import { dirname } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type DeltaQuestion, DeltaQuestionSchema } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { createBodyPool } from "../../limits/body-pool.ts";
import { secretTypeUrl } from "../../secrets/tls-secret.ts";
import { typeUrlOf } from "../../snapshot/resource-type.ts";
import { binaryResources } from "../../streams/binary-resources.ts";
import { endCall, type Written, writeMessages } from "../../streams/grpc-framing.ts";
import { beginningOf, runOf } from "../../streams/messages.ts";
import { messagesOf } from "../../streams/read-messages.ts";
import { isWhole, servedTypeOf } from "../../streams/served-type.ts";
import { discoveryStream, type StreamHost, type StreamRequest } from "../../streams/stream.ts";
import { askedDelta } from "../../streams/watch.ts";
import { listening } from "../listening.ts";
import type { LocalCalls } from "./local-calls.ts";

/** Where an agent answers its Envoy. */
export interface LocalServer {
  close(): Promise<void>;
}

/** The longest path of a Unix socket, in bytes, that all systems take: of Linux' 108 one ends it, and others have 104. */
const maxPathBytes = 103;

/** A request of an Envoy with 100,000 clusters that connects again. */
const maxMessageBytes = 64 * 1024 * 1024;

const deltaPath = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/**
 * Serves delta ADS over a Unix socket. Its folder is the user's alone, since private keys go over it.
 *
 * @param hostOf the server of a stream that has begun
 * @param calls what is answered besides
 * @param onError called for each error of the socket, of which a connection is lost and nothing else
 * @throws PortolanError when the socket cannot be had
 */
export async function serveLocal(
  path: string,
  hostOf: () => StreamHost,
  onError: (cause: unknown) => void,
  calls: LocalCalls = () => undefined,
): Promise<LocalServer> {
  if (Buffer.byteLength(path) > maxPathBytes)
    throw new PortolanError(
      `the path of Envoy's socket, ${path}, has more than ${maxPathBytes} bytes, and no system takes it: name a folder with a shorter path by --dir`,
    );
  const sessions = new Set<Http2Session>();
  const server = createServer({ settings: { maxConcurrentStreams: 128 } }, (request, response) => {
    answer(request, response, hostOf, calls);
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // A connection that fails says so by its end.
    session.on("error", () => {});
  });
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await chmod(dirname(path), 0o700);
    // Of an agent that was killed: whoever has the folder's lock is alone.
    await rm(path, { force: true });
    await listening(server, { path }, onError);
  } catch (cause) {
    throw new PortolanError(`cannot listen on ${path} for Envoy: ${causeText(cause)}`, [], cause);
  }
  return {
    async close() {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await rm(path, { force: true });
    },
  };
}

function answer(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  hostOf: () => StreamHost,
  calls: LocalCalls,
): void {
  const { stream } = response;
  const gone = new AbortController();
  stream.once("close", () => gone.abort());
  stream.on("error", () => {});
  const respond = async () => {
    const called = calls(request, response);
    if (called !== undefined) return called;
    response.writeHead(200, { "content-type": "application/grpc" });
    try {
      if (request.url !== deltaPath) throw new ConnectError("only delta ADS is served here", Code.Unimplemented);
      await writeMessages(answers(request, gone.signal, hostOf()), response, gone.signal);
      endCall(response, undefined);
    } catch (cause) {
      if (!stream.destroyed) endCall(response, ConnectError.from(cause));
    }
  };
  respond().catch(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
}

function answers(request: Http2ServerRequest, signal: AbortSignal, host: StreamHost): AsyncIterable<Written> {
  const { stream } = request;
  const messages = messagesOf(request, {
    maxBytes: maxMessageBytes,
    unpack: () => Promise.reject(new ConnectError("messages are not packed here", Code.Unimplemented)),
    pool: createBodyPool({ bodiesBytes: maxMessageBytes }),
    giveWay: () => stream.close(constants.NGHTTP2_CANCEL),
  });
  async function* requests(): AsyncGenerator<StreamRequest> {
    for await (const message of messages)
      yield requestOf(fromBinary(DeltaQuestionSchema, message, { readUnknownFields: false }));
  }
  return discoveryStream<Written>(host, requests(), {
    kind: "delta",
    signal,
    // An agent has one Envoy: no other stream could use the same answer, so none is kept.
    async write({ changed, ...one }) {
      const typeUrl = typeUrlOf(one.type);
      const values = await binaryResources(host.sources.reader, changed);
      return { message: [beginningOf({ ...one, typeUrl }), runOf("delta", typeUrl, values, changed)], leave() {} };
    },
    writeSecrets({ changed, ...one }) {
      const values = changed.map(({ value }) => value);
      return [beginningOf({ ...one, typeUrl: secretTypeUrl }), runOf("delta", secretTypeUrl, values, changed)];
    },
  });
}

/** A DeltaDiscoveryRequest of the agent's own Envoy: it may ask for as much as its messages hold. */
function requestOf(question: DeltaQuestion): StreamRequest {
  const type = servedTypeOf(question.typeUrl);
  const { resourceNamesSubscribe: subscribe, resourceNamesUnsubscribe: unsubscribe } = question;
  const known = new Map(Object.entries(question.initialResourceVersions));
  const asked = { subscribe, unsubscribe, known, nonce: question.responseNonce, error: question.errorDetail?.message };
  return {
    // The agent knows whose Envoy it is.
    claims: () => ({ id: question.node?.id ?? "", cluster: "", metadata: {}, locality: "" }),
    type,
    asked: (before) => askedDelta(isWhole(type), before, asked),
  };
}
