import { type ContextValues, createContextValues } from "@connectrpc/connect";
import { createFetchHandler, type UniversalHandler } from "@connectrpc/connect/protocol";
import type { Hono } from "hono/tiny";
import { callerOf } from "../auth/guard.ts";
import type { Front } from "../front.ts";
import { isJson } from "../polls/discovery-call.ts";
import { problem } from "../polls/responses.ts";
import { callBinary } from "./binary-call.ts";
import { type BinarySecrets, callerKey } from "./calls.ts";
import { discoveryCalls } from "./discovery-calls.ts";
import { callJson } from "./json-call.ts";
import { rpcHandlers } from "./rpc-handlers.ts";

/**
 * Adds Connect and gRPC-Web to an app. gRPC proper needs HTTP/2 with trailers, which only a Node server has (`grpc-server.ts`).
 */
export function mountConnect(app: Hono, front: Front, secrets?: BinarySecrets): void {
  for (const call of discoveryCalls(front, secrets)) {
    // Nothing decompresses here: that takes an own bound for each runtime.
    const [grpcWeb] = rpcHandlers(front, [call], { grpc: false, acceptCompression: [] });
    app.post(call.path, (c) => {
      const contentType = c.req.header("content-type") ?? "";
      if (call.json !== undefined && isJson(contentType)) return callJson(front, call.json, c, callerOf(c));
      if (/^application\/proto\b/.test(contentType)) return callBinary(front, call, c, callerOf(c));
      if (grpcWeb?.supportedContentType(contentType)) {
        const contextValues = createContextValues().set(callerKey, callerOf(c));
        return createFetchHandler(withValues(grpcWeb, contextValues))(c.req.raw);
      }
      return problem(415, "send application/json, application/proto or application/grpc-web+proto");
    });
  }
}

/** The same handler for a request whose sender the app's guard has let pass: by more than its headers, which are all that is left of it here. */
const withValues = (handler: UniversalHandler, contextValues: ContextValues): UniversalHandler =>
  Object.assign((request: Parameters<UniversalHandler>[0]) => handler({ ...request, contextValues }), handler);
