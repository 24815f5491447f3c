import { type ClientHttp2Session, connect, constants } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { DiscoveryRequestSchema } from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { createFront } from "../../../lib/front/front.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";

const request = toBinary(
  DiscoveryRequestSchema,
  create(DiscoveryRequestSchema, { node: { id: "sidecar~10.0.0.5~web.default~default.svc.cluster.local" } }),
);

/** A gRPC call by hand. @returns its status, once it is over */
function call(session: ClientHttp2Session): Promise<string> {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters",
      "content-type": "application/grpc",
      te: "trailers",
    });
    let status = "";
    stream.on("response", (headers) => {
      status = String(headers["grpc-status"] ?? "");
    });
    stream.on("trailers", (trailers) => {
      status = String(trailers["grpc-status"]);
    });
    stream.on("error", (cause) => {
      status = `error ${cause.message}`;
    });
    stream.on("close", () => resolve(status));
    stream.resume();
    const frame = new Uint8Array(5 + request.length);
    new DataView(frame.buffer).setUint32(1, request.length);
    frame.set(request, 5);
    stream.end(frame);
  });
}

/** A server whose store answers when it is told to. */
async function scene() {
  let answer = () => {};
  let asked = () => {};
  const answering = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const wasAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const memory = memoryStore();
  const store: ObjectStore = {
    ...memory,
    async get(key, condition) {
      asked();
      await answering;
      return memory.get(key, condition);
    },
  };
  const front = createFront({ store });
  const server = await serveGrpc(front, 0);
  const session = connect(server.url);
  session.on("error", () => {});
  return { front, server, session, answer, wasAsked };
}

describe("a gRPC server that is closed", () => {
  it("says goodbye on every connection, answers the call that is under way, and is gone then", async () => {
    const { front, server, session, answer, wasAsked } = await scene();
    const goodbye = new Promise<number>((resolve) => session.once("goaway", resolve));
    const ended = new Promise<void>((resolve) => session.once("close", () => resolve()));
    const status = call(session);
    await wasAsked;
    front.close();
    const closed = server.close();
    expect(await goodbye).toBe(constants.NGHTTP2_NO_ERROR);
    const isOver = await Promise.race([
      closed.then(() => true),
      new Promise((resolve) => setTimeout(resolve, 100, false)),
    ]);
    expect(isOver).toBe(false);
    answer();
    // Nothing was published: that is an answer, and no connection that broke.
    expect(await status).toMatch(/^\d+$/);
    await closed;
    await ended;
    const late = connect(server.url);
    await expect(new Promise((_, reject) => late.once("error", reject))).rejects.toThrow("ECONNREFUSED");
  });

  it("lets idle connections go at once", async () => {
    const { front, server, session } = await scene();
    await new Promise<void>((resolve) => session.once("connect", () => resolve()));
    const startMs = performance.now();
    front.close();
    await server.close();
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });
});
