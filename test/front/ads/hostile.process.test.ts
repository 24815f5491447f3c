import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterEach, describe, expect, it } from "vitest";
import {
  DeltaDiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { type Limits, limits } from "../../../lib/limits/limits.ts";
import { typeUrlOf } from "../../../lib/snapshot/resource-type.ts";
import { type ShapeContents, worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, testFront } from "../fixtures.ts";
import { openStream, withBinary } from "./streams.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function serving(contents: ShapeContents, more: Partial<Limits> = {}) {
  const test = testFront({ limits: { ...limits, ...more } });
  const change = (to: ShapeContents) => test.publish(withBinary(worldOf({ web: to })));
  await change(contents);
  const server = await serveGrpc(test.front, 0);
  closing.push(server.close, test.front.close);
  return { url: server.url, change, front: test.front };
}

/** A message with gRPC's flags and length before it. */
function frame(message: Uint8Array, flags = 0, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

const question = (type: "clusters" | "routes" = "clusters", more: object = {}): Uint8Array =>
  toBinary(
    DeltaDiscoveryRequestSchema,
    create(DeltaDiscoveryRequestSchema, { node: nodeOf("web"), typeUrl: typeUrlOf(type), ...more }),
  );

type Method = "StreamAggregatedResources" | "DeltaAggregatedResources";

function openRaw(session: ClientHttp2Session, method: Method = "DeltaAggregatedResources", headers: object = {}) {
  const stream = session.request({
    ":method": "POST",
    ":path": `/envoy.service.discovery.v3.AggregatedDiscoveryService/${method}`,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  stream.on("error", () => {});
  return stream;
}

function sessionTo(url: string): ClientHttp2Session {
  const session = connect(url);
  session.on("error", () => {});
  closing.push(() => session.destroy());
  return session;
}

/** `grpc-status` at the end of a stream; "" for one that is cut off. */
function statusOf(stream: ClientHttp2Stream): Promise<string> {
  let status = "";
  stream.on("trailers", (trailers) => {
    status = String(trailers["grpc-status"]);
  });
  stream.resume();
  return new Promise((resolve) => {
    stream.once("close", () => resolve(status));
  });
}

describe("a stream whose reader sends what is no message", () => {
  it.each([
    ["a length that no message has", frame(question(), 0, 0xff_ff_ff_ff), {}, "8"],
    ["bytes that are no message", frame(Buffer.from("ffffff", "hex")), {}, "3"],
    ["half a message", frame(question()).subarray(0, 20), {}, "3"],
    ["half a head", frame(question()).subarray(0, 3), {}, "3"],
    ["a packing that nobody named", frame(question(), 1), {}, "12"],
    ["what is not packed as it says", frame(question(), 1), { "grpc-encoding": "gzip" }, "3"],
    ["what is much when it is unpacked", frame(gzipSync(Buffer.alloc(8_000_000)), 1), { "grpc-encoding": "gzip" }, "8"],
    ["nothing at all", Buffer.alloc(0), {}, "0"],
  ])("is ended for %s", async (_what, bytes, headers, status) => {
    const { url } = await serving({ clusters: { a: "1" } });
    const stream = openRaw(sessionTo(url), "DeltaAggregatedResources", headers);
    const ended = statusOf(stream);
    stream.end(bytes);
    expect(await ended).toBe(status);
  });

  it("is read byte by byte, packed or several at once, as it comes", async () => {
    const { url } = await serving({ clusters: { a: "1" }, routes: { r: "1" } });
    const stream = openRaw(sessionTo(url), "DeltaAggregatedResources", { "grpc-encoding": "gzip" });
    for (const byte of frame(gzipSync(question()), 1)) {
      stream.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(String((await once(stream, "data"))[0])).toContain("a=1");
    const routes = frame(question("routes", { resourceNamesSubscribe: ["r"] }));
    stream.write(Buffer.concat([frame(new Uint8Array()), frame(new Uint8Array()), routes]));
    expect(String((await once(stream, "data"))[0])).toContain("r=1");
  });

  it("is ended for names, nonces and types of a megabyte", async () => {
    const { url } = await serving({ clusters: { a: "1" } });
    const long = "x".repeat(900_000);
    for (const more of [{ resourceNamesSubscribe: [long] }, { responseNonce: long }, { typeUrl: long }]) {
      const stream = openRaw(sessionTo(url));
      const ended = statusOf(stream);
      stream.write(frame(question("clusters", more)));
      expect(await ended).toBe("3");
    }
  });
});

describe("a stream whose reader does not read", () => {
  it("costs one message at a time, and has the newest and not what was between when it reads again", async () => {
    const content = (version: number) => ({ clusters: { a: `${version}.${"x".repeat(300_000)}` } });
    const { url, change } = await serving(content(0));
    const stream = openRaw(sessionTo(url), "StreamAggregatedResources");
    stream.pause();
    const { DiscoveryRequestSchema } = await import("../../../gen/envoy/service/discovery/v3/discovery_pb.ts");
    const request = create(DiscoveryRequestSchema, { node: nodeOf("web"), typeUrl: typeUrlOf("clusters") });
    stream.write(frame(toBinary(DiscoveryRequestSchema, request)));
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (let version = 1; version <= 12; version += 1) {
      await change(content(version));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const got = readMessages(stream);
    stream.resume();
    await expect.poll(() => got.at(-1)?.slice(0, 5), { timeout: 5_000 }).toBe("a=12.");
    expect(got.length).toBeLessThanOrEqual(3);
  });

  it("is ended after its time, and makes room", async () => {
    const { url } = await serving(
      { clusters: { a: "x".repeat(400_000) } },
      { callMs: 300, discoveryStreams: 1, keepAliveMs: 60_000 },
    );
    const stream = openRaw(sessionTo(url));
    stream.pause();
    stream.write(frame(question()));
    await once(stream, "close");
    const next = openStream(url, "delta");
    closing.push(next.close);
    next.ask({ type: "clusters" });
    expect((await next.next()).resources).toHaveLength(1);
  });
});

/** Contents of the first cluster of each message. */
function readMessages(stream: ClientHttp2Stream): string[] {
  const got: string[] = [];
  let rest = Buffer.alloc(0);
  stream.on("data", (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      const message: DiscoveryResponse = fromBinary(DiscoveryResponseSchema, rest.subarray(5, end));
      got.push(new TextDecoder().decode(message.resources[0]?.value));
      rest = rest.subarray(end);
    }
  });
  return got;
}

describe("a connection that is lost without a word", () => {
  it("is found out and closed, with its streams", async () => {
    const { url, front } = await serving({ clusters: { a: "1" } }, { keepAliveMs: 150 });
    const { port } = new URL(url);
    const upstreams: Socket[] = [];
    let isLost = false;
    // A network that is cut: neither side hears of it.
    const network = createServer((down) => {
      const up = connectTcp(Number(port), "127.0.0.1");
      upstreams.push(up);
      up.on("data", (data) => isLost || down.write(data));
      down.on("data", (data) => isLost || up.write(data));
      for (const socket of [up, down]) socket.on("error", () => {});
    });
    network.listen(0, "127.0.0.1");
    await once(network, "listening");
    closing.push(() => network.close());
    const address = network.address();
    const stream = openRaw(sessionTo(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`));
    stream.write(frame(question()));
    await once(stream, "data");
    // As long as it answers it stays.
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(upstreams[0]?.readableEnded).toBe(false);
    isLost = true;
    const [up] = upstreams;
    if (up === undefined) throw new Error("nobody has connected");
    await once(up, "close");
    expect(front.heads.isClosed()).toBe(false);
  });
});

describe("readers that come and go", () => {
  it("leave nothing behind, however they leave", async () => {
    const { url } = await serving({ clusters: { a: "1" } }, { discoveryStreams: 20, watchedBytes: 100_000 });
    for (let round = 0; round < 15; round += 1) {
      const sessions = Array.from({ length: 10 }, () => sessionTo(url));
      const streams = sessions.map((session) => {
        const stream = openRaw(session);
        stream.write(frame(question()));
        return stream;
      });
      await Promise.all(streams.map((stream) => once(stream, "data")));
      for (const [at, session] of sessions.entries()) {
        const leave = [
          () => session.destroy(),
          () => session.goaway(),
          () => streams[at]?.close(8),
          () => session.close(),
        ];
        leave[at % leave.length]?.();
        streams[at]?.destroy();
        session.destroy();
      }
      await Promise.all(streams.map((stream) => (stream.closed ? undefined : once(stream, "close"))));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const next = openStream(url, "delta");
    closing.push(next.close);
    next.ask({ type: "clusters" });
    expect((await next.next()).resources).toEqual(["+a=1"]);
  });
});

describe("a reader of ten thousand names", () => {
  it("may ask for them one by one", async () => {
    const { url } = await serving({ routes: { r: "1" } });
    const stream = openRaw(sessionTo(url));
    let bytes = 0;
    stream.on("data", (data: Buffer) => {
      bytes += data.length;
    });
    const startMs = process.cpuUsage();
    for (let at = 0; at < 10_000; at += 1)
      stream.write(frame(question("routes", { resourceNamesSubscribe: [`${(at * 7_919) % 10_007} of many`] })));
    stream.write(frame(question("routes", { resourceNamesSubscribe: ["r"] })));
    const done = new Promise<void>((resolve) => {
      stream.on("data", (data: Buffer) => data.includes("r=1") && resolve());
    });
    await done;
    const { user, system } = process.cpuUsage(startMs);
    expect(bytes).toBeGreaterThan(100_000);
    // Of both sides: some 0.2 ms a name.
    expect((user + system) / 1_000).toBeLessThan(20_000);
  }, 60_000);
});
