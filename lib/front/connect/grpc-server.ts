import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { AddressInfo } from "node:net";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono/tiny";
import type { Limits } from "../../limits/limits.ts";
import { guard } from "../auth/guard.ts";
import type { Front } from "../front.ts";
import { lastAnswersMs, type RunningServer } from "../node-server.ts";
import { problem } from "../responses.ts";
import { discoveryCalls } from "./calls.ts";
import { gzip } from "./gzip.ts";
import { mountConnect } from "./mount.ts";
import { rpcHandlers } from "./rpc-handlers.ts";

/** Serves gRPC, gRPC-Web and Connect over HTTP/2 without TLS, on a port of its own. */
export function serveGrpc(front: Front, port: number, hostname = "127.0.0.1"): Promise<RunningServer> {
  const { limits } = front;
  const listener = callListener(front);
  const sessions = new Set<ServerHttp2Session>();
  const settings = { maxConcurrentStreams: limits.streams, maxHeaderListSize: limits.headerBytes };
  const server = createServer({ settings }, withinLimits(limits, listener));
  server.maxConnections = limits.connections;
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.setTimeout(limits.idleMs, () => session.close());
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      const address = server.address() as AddressInfo; // a TCP server's address is never a text
      resolve({
        url: `http://${hostname}:${address.port}`,
        close: () =>
          new Promise((closed) => {
            const deadline = setTimeout(() => {
              for (const session of sessions) session.destroy();
            }, lastAnswersMs);
            server.close(() => {
              clearTimeout(deadline);
              closed();
            });
            // Says goodbye, and ends when the last call has its answer.
            for (const session of sessions) session.close();
          }),
      });
    });
  });
}

type Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** gRPC and gRPC-Web by the library, Connect as over HTTP/1.1. */
function callListener(front: Front): Listener {
  const acceptCompression = [gzip];
  const handlers = new Map(
    rpcHandlers(front, discoveryCalls(front), { acceptCompression }).map((handler) => [handler.requestPath, handler]),
  );
  const connect = new Hono();
  connect.use(guard(front.authentication));
  mountConnect(connect, front);
  connect.notFound((c) => problem(404, `there is no ${c.req.method} of this kind here`));
  const answerConnect = getRequestListener(connect.fetch, { overrideGlobalObjects: false });
  return (request, response) => {
    const handler = handlers.get(request.url.split("?", 1)[0] ?? "");
    const isRpc = /^application\/grpc\b/.test(request.headers["content-type"] ?? "");
    if (handler !== undefined && isRpc) answerRpc(front, handler, request, response);
    else answerConnect(request, response);
  };
}

function answerRpc(
  front: Front,
  handler: UniversalHandler,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
): void {
  // Whoever names no authority gets no further than whoever goes away meanwhile: the stream is over.
  const answer = async () => {
    const asked = universalRequestFromNodeRequest(request, response, undefined, undefined);
    await universalResponseToNodeResponse(await handler(asked), response);
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
