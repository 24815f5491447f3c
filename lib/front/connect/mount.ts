import { createConnectRouter } from "@connectrpc/connect";
import { createFetchHandler } from "@connectrpc/connect/protocol";
import type { Hono } from "hono/tiny";
import type { Front } from "../front.ts";
import { callJson } from "./json-call.ts";
import { discoveryServices } from "./services.ts";

/** Path of each method → what it serves in JSON. */
const jsonMethods = {
  "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters": "clusters",
  "/envoy.service.endpoint.v3.EndpointDiscoveryService/FetchEndpoints": "endpoints",
  "/envoy.service.listener.v3.ListenerDiscoveryService/FetchListeners": "listeners",
  "/envoy.service.route.v3.RouteDiscoveryService/FetchRoutes": "routes",
  "/portolan.v1.SnapshotService/DeltaFetch": "delta",
} as const;

/** Adds Connect and gRPC-Web to an app. gRPC proper needs HTTP/2 with trailers, which only a Node server has (`grpc-server.ts`). */
export function mountConnect(app: Hono, front: Front): void {
  const router = createConnectRouter({ grpc: false });
  discoveryServices(front)(router);
  for (const handler of router.handlers) {
    const handle = createFetchHandler(handler);
    const json = Object.entries(jsonMethods).find(([path]) => path === handler.requestPath)?.[1];
    app.all(handler.requestPath, (c) => {
      const isJson = /^application\/json\b/.test(c.req.header("content-type") ?? "");
      return isJson && json !== undefined && c.req.method === "POST"
        ? callJson(front, json, c.req.raw)
        : handle(c.req.raw);
    });
  }
}
