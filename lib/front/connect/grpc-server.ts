import {
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
  type SecureServerOptions,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { Code, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { AggregatedDiscoveryService } from "../../../gen/envoy/service/discovery/v3/ads_pb.ts";
import { Health } from "../../../gen/grpc/health/v1/health_pb.ts";
import type { Limits } from "../../limits/limits.ts";
import { type AdsServices, adsListeners } from "../ads/handlers.ts";
import type { Front } from "../front.ts";
import { boundHandshakes } from "../handshakes.ts";
import { lastAnswersMs, portCloser, type RunningServer } from "../node-server.ts";
import { nodeAnswers } from "../requests/node-adapter.ts";
import { nodeCredentials } from "../requests/node-credentials.ts";
import { createRequests } from "../requests/requests.ts";
import { moduleRoute } from "../wasm-modules.ts";
import { credentialsKey } from "./calls.ts";
import { discoveryCalls } from "./discovery-calls.ts";
import { framesWithin } from "./frames.ts";
import { guarded } from "./guarded.ts";
import { gzip } from "./gzip.ts";
import { healthHandlers } from "./health.ts";
import { type ConnectServices, mountConnect } from "./mount.ts";
import { reflectionHandlers } from "./reflection.ts";
import { rpcHandlers } from "./rpc-handlers.ts";
import { binarySecrets } from "./secret-call.ts";
import type { KeptCertificate, ServerPair } from "./server-certificate.ts";

/** What the server of gRPC answers from: calls, streams, health. */
export type GrpcServices = ConnectServices & AdsServices & Pick<Front, "readiness" | "serverError" | "modules">;

type CallErrors = Pick<Front, "bodies" | "onError">;

/**
 * Serves gRPC, gRPC-Web, Connect and modules of Wasm over HTTP/2, on a port of its own.
 *
 * @param certificate absent: without TLS
 */
export function serveGrpc(
  front: GrpcServices,
  port: number,
  hostname = "127.0.0.1",
  certificate?: KeptCertificate,
): Promise<RunningServer> {
  const { limits } = front;
  const withStreams = new Set<Http2Session>();
  const listener = callListener(front, withStreams);
  const sessions = new Set<Http2Session>();
  const settings = { maxConcurrentStreams: limits.streams, maxHeaderListSize: limits.headerBytes };
  const server =
    certificate === undefined
      ? createServer({ settings }, listener)
      : secureServer(
          {
            settings,
            // When thousands come back at once, each waits for its turn: ended after a few seconds, all of them would begin again and again.
            // A connection without a request may be kept as long, anyway.
            handshakeTimeout: limits.idleMs,
            // What a certificate proves is decided with each request; here a client shows that it has its key.
            requestCert: front.authentication.asksForCertificates === true,
            rejectUnauthorized: false,
          },
          listener,
          certificate,
          limits.handshakes,
        );
  server.maxConnections = limits.connections;
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.setTimeout(limits.idleMs, () => {
      if (!withStreams.has(session)) session.close();
    });
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.off("error", reject).on("error", front.serverError);
      const address = server.address() as AddressInfo; // a TCP server's address is never a text
      const stopListening = portCloser(server);
      // `once` of node:events would reject, unheard, for the first error that the server goes on after.
      const closed = new Promise<void>((close) => server.once("close", close));
      resolve({
        url: `${certificate === undefined ? "http" : "https"}://${hostname}:${address.port}`,
        stopListening,
        async close() {
          await stopListening();
          certificate?.close();
          const deadline = setTimeout(() => {
            for (const session of sessions) session.destroy();
          }, lastAnswersMs);
          // Says goodbye, and ends when the last call has its answer.
          for (const session of sessions) session.close();
          await closed;
          clearTimeout(deadline);
        },
      });
    });
  });
}

/** A server with TLS that takes each new certificate for the connections that come after it. */
function secureServer(
  options: SecureServerOptions,
  listener: Listener,
  certificate: KeptCertificate,
  handshakes: number,
): Http2SecureServer {
  const secrets = ({ certificate: cert, key }: ServerPair) => ({ cert, key, minVersion: "TLSv1.2" as const });
  const server = createSecureServer({ ...options, ...secrets(certificate.first) }, listener);
  boundHandshakes(server, handshakes);
  certificate.follow((pair) => server.setSecureContext(secrets(pair)));
  return server;
}

type Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/**
 * gRPC and gRPC-Web by the library, Connect as over HTTP/1.1.
 *
 * @param withStreams connections that have a stream that lasts, kept here
 */
function callListener(front: GrpcServices, withStreams: Set<Http2Session>): Listener {
  const options = { acceptCompression: [gzip] };
  const unary = rpcHandlers(front, discoveryCalls(front, binarySecrets), options);
  const services = [AggregatedDiscoveryService, ...unary.map(({ service }) => service)];
  const reflection = reflectionHandlers([...services, Health], front.limits, options).map((one) => guarded(front, one));
  const names = [...services, Health, ...reflection.map(({ service }) => service)].map(({ typeName }) => typeName);
  const health = healthHandlers(front, new Set(names), options);
  const { discoveryStreams, calls: most } = front.limits;
  const streams = new Map([
    ...lasting(front, adsListeners(front), discoveryStreams, withStreams),
    ...lasting(front, byHandlers(front, [health.watch]), most, withStreams),
    ...lasting(front, byHandlers(front, reflection), most, withStreams),
  ]);
  const handlers = byPath([...unary, health.check]);
  const connect = createRequests(front);
  mountConnect(connect, front, binarySecrets);
  // An Envoy whose resources come by a stream has no other cluster of its front.
  connect.add([moduleRoute(front.modules)]);
  const answerConnect = nodeAnswers(connect);
  const calls = withinLimits(front.limits, (request, response) => {
    const handler = handlers.get(pathOf(request));
    if (handler !== undefined && isRpc(request)) answerRpc(front, handler, request, response);
    else if (isGrpc(request)) refuseUnknown(response);
    else answerConnect(request, response);
  });
  return (request, response) => {
    const stream = isRpc(request) ? streams.get(pathOf(request)) : undefined;
    (stream ?? calls)(request, response);
  };
}

const byPath = (handlers: readonly UniversalHandler[]): ReadonlyMap<string, UniversalHandler> =>
  new Map(handlers.map((handler) => [handler.requestPath, handler]));

const pathOf = ({ url }: Http2ServerRequest): string => url.split("?", 1)[0] ?? "";
/** Not gRPC-Web's kind of stream, which nobody here speaks. */
const isRpc = ({ headers }: Http2ServerRequest): boolean => /^application\/grpc\b/.test(headers["content-type"] ?? "");

const isGrpc = ({ headers }: Http2ServerRequest): boolean =>
  /^application\/grpc(?![-\w])/.test(headers["content-type"] ?? "");

/** The answer to a method that is not served: clients of gRPC read 404 as another error, and ask again. */
function refuseUnknown({ stream }: Http2ServerResponse): void {
  const unimplemented = { "grpc-status": String(Code.Unimplemented), "grpc-message": "there is no such method here" };
  stream.respond({ ":status": 200, "content-type": "application/grpc", ...unimplemented }, { endStream: true });
  // Nothing of the request is read; without this its sender would go on sending.
  stream.close(constants.NGHTTP2_NO_ERROR);
}

/**
 * Streams that last, by their paths: what ends them is a reader that takes nothing, a connection on which nobody answers, and their
 * age.
 *
 * @param most of all of them at a time
 * @param withStreams connections that have one, kept here
 */
function lasting(
  { limits: { keepAliveMs, callMs } }: Pick<Front, "limits">,
  listeners: ReadonlyMap<string, Listener>,
  most: number,
  withStreams: Set<Http2Session>,
): ReadonlyMap<string, Listener> {
  let open = 0;
  const within =
    (listener: Listener): Listener =>
    (request, response) => {
      const { stream } = response;
      const { session } = stream;
      if (open >= most || session === undefined) {
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
        return;
      }
      open += 1;
      stream.once("close", () => {
        open -= 1;
      });
      // Its reader would go on writing requests that nobody reads.
      stream.once("wantTrailers", () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR)));
      endIfStalled(stream, callMs);
      if (!withStreams.has(session)) keepAlive(session, keepAliveMs, withStreams);
      listener(request, response);
    };
  return new Map([...listeners].map(([path, listener]) => [path, within(listener)]));
}

const byHandlers = (front: CallErrors, handlers: readonly UniversalHandler[]): ReadonlyMap<string, Listener> =>
  new Map(
    handlers.map((handler) => [
      handler.requestPath,
      (request, response) => answerRpc(front, handler, request, response, true),
    ]),
  );

/** Ends a stream whose reader leaves what was written to it where it is. */
function endIfStalled(stream: ServerHttp2Stream, ms: number): void {
  stream.setTimeout(ms, () => {
    if (stream.writableNeedDrain) stream.close(constants.NGHTTP2_CANCEL);
    else if (!stream.destroyed) endIfStalled(stream, ms);
  });
}

/** Asks now and then whether somebody is there: a connection that was lost without a word keeps its streams otherwise. */
export function keepAlive(
  session: Pick<Http2Session, "destroyed" | "destroy" | "ping"> & { once(event: "close", act: () => void): unknown },
  ms: number,
  withStreams: Set<unknown>,
): void {
  // It says `close` no more.
  if (session.destroyed) return;
  withStreams.add(session);
  let isAnswered = true;
  const timer = setInterval(() => {
    // Between its end and `close` there is a while, in which a ping would throw and end the process.
    if (session.destroyed) return;
    if (!isAnswered) {
      session.destroy();
      return;
    }
    isAnswered = false;
    session.ping((cause) => {
      isAnswered = cause === null;
    });
  }, ms);
  session.once("close", () => {
    clearInterval(timer);
    withStreams.delete(session);
  });
}

function answerRpc(
  front: CallErrors,
  handler: UniversalHandler,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  isStream = false,
): void {
  // Whoever names no authority gets no further than whoever goes away meanwhile: the stream is over.
  const answer = async () => {
    const asked = universalRequestFromNodeRequest(
      request,
      response,
      undefined,
      createContextValues().set(credentialsKey, nodeCredentials(request)),
    );
    const body = framesWithin(asked.body, front.bodies, () => response.stream.close(constants.NGHTTP2_CANCEL));
    await universalResponseToNodeResponse(await handler(isStream ? { ...asked, body } : asked), response);
  };
  answer().catch((cause: unknown) => {
    if (response.stream.destroyed) return;
    front.onError(cause);
    response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  });
}

/** Ends calls that bring their request or take their answer too slowly, and takes no more at a time than it may. */
function withinLimits({ calls, callMs, requestMs }: Limits, listener: Listener): Listener {
  let open = 0;
  return (request, response) => {
    const { stream } = response;
    if (open >= calls) {
      // A caller may send such a call again, as if it had never been sent.
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    open += 1;
    const cancel = () => stream.close(constants.NGHTTP2_CANCEL);
    const ending = setTimeout(cancel, callMs);
    const coming = setTimeout(() => {
      if (!request.complete) cancel();
    }, requestMs);
    stream.once("close", () => {
      open -= 1;
      clearTimeout(ending);
      clearTimeout(coming);
    });
    listener(request, response);
  };
}
