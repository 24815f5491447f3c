import { connect, constants } from "node:http2";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LocalitySchema, NodeSchema } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import {
  DeltaDiscoveryRequestSchema,
  DiscoveryRequestSchema,
} from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import {
  AskingLocalitySchema,
  AskingNodeSchema,
  DeltaQuestionSchema,
  DiscoveryQuestionSchema,
} from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { frontApp } from "../../../lib/front/app.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { mountConnect } from "../../../lib/front/connect/mount.ts";
import { createFront, type Front } from "../../../lib/front/front.ts";
import { type RunningServer, serveHttp } from "../../../lib/front/node-server.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { heldBytes } from "../../collect-garbage.ts";

const path = "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters";
const few = { ...limits, streams: 20, calls: 4 };
/** For those who never come to an end: nobody else is to be cut off where the machine is busy. */
const hasty = { ...few, requestMs: 400, callMs: 800 };

let front: Front;
let hastyFront: Front;
let http: RunningServer;
let grpc: RunningServer;
let hastyGrpc: RunningServer;
beforeAll(async () => {
  front = createFront({ store: memoryStore(), limits: few });
  hastyFront = createFront({ store: memoryStore(), limits: hasty });
  const app = frontApp(front);
  mountConnect(app, front);
  http = await serveHttp(app, 0);
  grpc = await serveGrpc(front, 0);
  hastyGrpc = await serveGrpc(hastyFront, 0);
});
afterAll(async () => {
  front.close();
  hastyFront.close();
  await Promise.all([http.close(), grpc.close(), hastyGrpc.close()]);
});

/** A message in gRPC's frame. */
function framed(message: Uint8Array, compressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed ? 1 : 0, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

interface Ended {
  readonly status: number | undefined;
  readonly grpcStatus: string | undefined;
  readonly message: string;
  readonly reset: number;
}

/** A gRPC call with this body; undefined: with one that never ends, at the server that waits for nobody. */
function call(body: Uint8Array | undefined, headers: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const session = connect((body === undefined ? hastyGrpc : grpc).url);
  return new Promise((resolve, reject) => {
    session.on("error", reject);
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    let status: number | undefined;
    let trailers: Readonly<Record<string, unknown>> = {};
    stream.on("response", (received) => {
      status = received[":status"];
      trailers = { ...trailers, ...received };
    });
    stream.on("trailers", (received) => {
      trailers = { ...trailers, ...received };
    });
    stream.on("error", () => {});
    // Whoever has the answer sends no more of a request that is too large.
    stream.on("end", () => {
      if (trailers["grpc-status"] !== undefined) stream.close(constants.NGHTTP2_CANCEL);
    });
    stream.on("close", () => {
      session.destroy();
      const text = (name: string) => (trailers[name] === undefined ? undefined : String(trailers[name]));
      resolve({
        status,
        grpcStatus: text("grpc-status"),
        message: decodeURIComponent(text("grpc-message") ?? ""),
        reset: stream.rstCode ?? 0,
      });
    });
    stream.resume();
    if (body !== undefined) stream.end(body);
  });
}

/** Fields that nobody knows: 60 MB of them are 107 bytes of brotli. */
const bomb = Buffer.alloc(60_000_000, "7800", "hex");
/** Node of 500,000 empty extensions. */
const manyExtensions = (() => {
  const node = Buffer.alloc(1_000_000, "4a00", "hex");
  const length = [(node.length & 0x7f) | 0x80, ((node.length >> 7) & 0x7f) | 0x80, node.length >> 14];
  return Buffer.concat([Buffer.from([0x12, ...length]), node]);
})();

describe("a gRPC call", () => {
  it("is decompressed up to the limit and no further", async () => {
    const ended = await call(framed(gzipSync(bomb), true), { "grpc-encoding": "gzip" });
    expect(ended).toMatchObject({ grpcStatus: "8", message: expect.stringContaining("larger than") });
  });

  it("is not decompressed by what takes far more memory than its message", async () => {
    const small = brotliCompressSync(bomb);
    expect(small.length).toBeLessThan(200);
    expect(await call(framed(small, true), { "grpc-encoding": "br" })).toMatchObject({ grpcStatus: "12" });
  });

  it("is read up to the limit and no further", async () => {
    expect(await call(framed(bomb.subarray(0, 3_000_000)))).toMatchObject({ grpcStatus: "8" });
  });

  it("costs little for what nobody reads", async () => {
    for (const message of [bomb.subarray(0, limits.pollBytes), manyExtensions]) {
      const before = heldBytes();
      expect(await call(framed(message))).toMatchObject({ grpcStatus: "3", message: "node has no id" });
      expect(heldBytes() - before).toBeLessThan(5_000_000);
    }
  });

  it.each([
    ["a message that breaks off", framed(Buffer.from([0x0a, 0x7f]))],
    ["a field of no kind", framed(Buffer.from([0x0f, 0x01]))],
    ["nothing", Buffer.alloc(0)],
    ["two messages", Buffer.concat([framed(Buffer.alloc(0)), framed(Buffer.alloc(0))])],
    ["half a frame", framed(Buffer.alloc(100)).subarray(0, 50)],
    ["something that is not compressed as it says", framed(Buffer.from("x"), true)],
  ])("with %s is the caller's fault", async (_what, body) => {
    expect(await call(body, { "grpc-encoding": "gzip" })).toMatchObject({ status: 200, grpcStatus: "3" });
  });

  it("with structures in each other without end is the caller's fault", async () => {
    // Struct { fields { key, value: Struct { … } } }, each in its length.
    let value = Buffer.from([0x20, 0x01]);
    const wrap = (tag: number, bytes: Buffer) => {
      const length: number[] = [];
      for (let left = bytes.length; ; left >>= 7) {
        length.push(left > 0x7f ? (left & 0x7f) | 0x80 : left);
        if (left <= 0x7f) break;
      }
      return Buffer.concat([Buffer.from([tag, ...length]), bytes]);
    };
    for (let i = 0; i < 2_000; i += 1) {
      value = wrap(0x2a, wrap(0x0a, Buffer.concat([Buffer.from([0x0a, 0x01, 0x61]), wrap(0x12, value)])));
    }
    const metadata = wrap(0x1a, wrap(0x0a, Buffer.concat([Buffer.from([0x0a, 0x01, 0x61]), wrap(0x12, value)])));
    const node = wrap(0x12, Buffer.concat([wrap(0x0a, Buffer.from("a")), metadata]));
    expect(await call(framed(node))).toMatchObject({ grpcStatus: "3" });
  });

  it("that is never sent to its end is ended", async () => {
    const startMs = performance.now();
    expect(await call(undefined)).toMatchObject({ reset: constants.NGHTTP2_CANCEL });
    expect(performance.now() - startMs).toBeLessThan(3_000);
  });

  it("is turned away as not begun when too many are open", async () => {
    const ends = await Promise.all(Array.from({ length: 12 }, () => call(undefined)));
    const resets = ends.map(({ reset }) => reset);
    expect(resets.filter((reset) => reset === constants.NGHTTP2_CANCEL)).toHaveLength(hasty.calls);
    expect(resets.filter((reset) => reset === constants.NGHTTP2_REFUSED_STREAM)).toHaveLength(12 - hasty.calls);
    // The next ones find room again.
    expect(await call(framed(Buffer.alloc(0)))).toMatchObject({ grpcStatus: "3" });
  });

  it("of a method that does not exist is answered with gRPC's own status", async () => {
    expect(await call(Buffer.alloc(0), { ":path": "/constructor" })).toMatchObject({ status: 200, grpcStatus: "12" });
  });
});

describe("a Connect call", () => {
  const post = async (body: Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${http.url}${path}`, { method: "POST", body, headers });
    return { status: response.status, text: await response.text() };
  };

  it("is read up to the limit and no further, in binary and JSON", async () => {
    for (const type of ["application/proto", "application/json"]) {
      const { status, text } = await post(new Uint8Array(bomb), { "content-type": type });
      expect({ status, text }).toMatchObject({ status: 429, text: expect.stringContaining("resource_exhausted") });
    }
  });

  it("is not decompressed", async () => {
    const body = new Uint8Array(brotliCompressSync(bomb));
    for (const type of ["application/proto", "application/json"]) {
      const { status } = await post(body, { "content-type": type, "content-encoding": "br" });
      expect(status).toBe(501);
    }
  });

  it("with a message that cannot be read is the caller's fault", async () => {
    for (const body of [new Uint8Array([0x0a, 0x7f]), new Uint8Array([0x0f, 1]), new TextEncoder().encode("{}")]) {
      const { status, text } = await post(body, { "content-type": "application/proto" });
      expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining("invalid_argument") });
    }
  });

  it("of a kind that nobody knows is refused", async () => {
    expect((await post(new Uint8Array(1), { "content-type": "application/connect+proto" })).status).toBe(415);
    expect((await post(new Uint8Array(1), { "content-type": "text/plain" })).status).toBe(415);
  });
});

describe("a gRPC-Web call", () => {
  it("is read up to the limit, and with a broken message is the caller's fault", async () => {
    const ask = async (body: Buffer) => {
      const headers = { "content-type": "application/grpc-web+proto" };
      return (await fetch(`${http.url}${path}`, { method: "POST", headers, body: new Uint8Array(body) })).text();
    };
    expect(await ask(framed(bomb.subarray(0, 3_000_000)))).toContain("grpc-status: 8");
    expect(await ask(framed(Buffer.from([0x0a, 0x7f])))).toContain("grpc-status: 3");
  });
});

describe("what is read of a request", () => {
  it.each([
    [DiscoveryQuestionSchema, DiscoveryRequestSchema],
    [DeltaQuestionSchema, DeltaDiscoveryRequestSchema],
    [AskingNodeSchema, NodeSchema],
    [AskingLocalitySchema, LocalitySchema],
  ] as const)("$typeName has the fields of Envoy's message under the same numbers", (ours, theirs) => {
    const kinds = (fields: typeof ours.fields) =>
      fields.map(({ name, number, fieldKind }) => ({ name, number, fieldKind }));
    expect(kinds(theirs.fields)).toEqual(expect.arrayContaining(kinds(ours.fields)));
  });
});
