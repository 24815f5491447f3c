import { createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { callerOf } from "../auth/admit.ts";
import { type CallServices, deltaFetchRoute, isJson } from "../polls/call-routes.ts";
import { pollLimits } from "../polls/poll.ts";
import { senderOf } from "../polls/sender.ts";
import { type Answer, problem } from "../requests/answer.ts";
import { type Asked, plain, type Route, withBody } from "../requests/routes.ts";
import { callBinary } from "./binary-call.ts";
import { type BinarySecrets, callerKey, type DiscoveryCall } from "./calls.ts";
import { type DiscoveryServices, discoveryCalls } from "./discovery-calls.ts";
import { callJson } from "./json-call.ts";
import { type RpcServices, rpcHandlers } from "./rpc-handlers.ts";

/** What the routes of Connect and gRPC-Web answer from. */
export type ConnectServices = DiscoveryServices & RpcServices & CallServices;

/**
 * Adds Connect and gRPC-Web to an app. gRPC proper needs HTTP/2 with trailers, which only a Node server has (`grpc-server.ts`).
 */
export function mountConnect(
  app: { add(routes: readonly Route[]): void },
  front: ConnectServices,
  secrets?: BinarySecrets,
): void {
  app.add([deltaFetchRoute(front), ...discoveryCalls(front, secrets).flatMap((call) => routesOf(front, call))]);
}

/** One route for each form that a call is sent in. */
function routesOf(front: ConnectServices, call: DiscoveryCall): readonly Route[] {
  // Nothing decompresses here: that takes an own bound for each runtime.
  const [grpcWeb] = rpcHandlers(front, [call], { grpc: false, acceptCompression: [] });
  const { path, json, maxBytes } = call;
  const post = { method: "POST", path } as const;
  const binary = withBody({ maxBytes, pool: front.bodies }, (asked, body) =>
    callBinary(front, call, senderOf(asked), body),
  );
  return [
    ...(json === undefined
      ? []
      : [
          {
            ...post,
            takes: isJson,
            to: withBody(pollLimits(front), (asked, body) => callJson(front, json, senderOf(asked), body)),
          },
        ]),
    { ...post, takes: (contentType) => /^application\/proto\b/.test(contentType), to: binary },
    ...(grpcWeb === undefined
      ? []
      : [{ ...post, takes: grpcWeb.supportedContentType, to: plain((asked) => answerGrpcWeb(grpcWeb, asked)) }]),
    {
      ...post,
      to: plain(() => problem(415, "send application/json, application/proto or application/grpc-web+proto")),
    },
  ];
}

/** A call that the library reads and answers, of a sender who was let in. */
async function answerGrpcWeb(handler: UniversalHandler, asked: Asked): Promise<Answer> {
  const { request } = asked;
  return answerOf(
    await handler({
      httpVersion: "",
      method: request.method,
      url: `http://front${request.target}`,
      header: request.headers(),
      body: request.chunks() ?? nothing(),
      signal: request.signal() ?? new AbortController().signal,
      contextValues: createContextValues().set(callerKey, callerOf(asked)),
    }),
  );
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function answerOf({ status, header, body }: UniversalServerResponse): Answer {
  const headers = Object.fromEntries(new Headers(header));
  if (body === undefined) return { status, headers };
  const pieces = body[Symbol.asyncIterator]();
  return {
    status,
    headers,
    body: {
      chunks: () => ({ [Symbol.asyncIterator]: () => pieces }),
      // Lets go of what the call holds, also where nobody has taken anything.
      sent: () => void pieces.return?.(),
    },
  };
}
