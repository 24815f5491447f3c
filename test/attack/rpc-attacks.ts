import { brotliCompressSync, gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { DiscoveryRequestSchema } from "../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import type { AttackClass } from "./attack-class.ts";
import type { Random } from "./random.ts";
import { pollOf, typeUrls, victim } from "./world.ts";

const fetchClusters = "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters";
const deltaFetch = "/portolan.v1.SnapshotService/DeltaFetch";

/** A message in gRPC's frame. */
export function framed(message: Uint8Array, compressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed ? 1 : 0, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const valid = toBinary(
  DiscoveryRequestSchema,
  create(DiscoveryRequestSchema, {
    node: { id: victim.id, cluster: victim.cluster, metadata: victim.metadata },
    typeUrl: typeUrls.clusters,
  }),
);
/** Fields that nobody knows, and a node with half a million extensions. */
const unknown = Buffer.alloc(60_000_000, "7800", "hex");
const extensions = Buffer.concat([Buffer.from([0x12, 0xc0, 0x84, 0x3d]), Buffer.alloc(1_000_000, "4a00", "hex")]);
const gzipBomb = framed(gzipSync(unknown), true);
const brotliBomb = framed(brotliCompressSync(unknown), true);
const largest = [framed(unknown.subarray(0, 1_000_000)), framed(extensions)];
const packed = framed(gzipSync(extensions), true);
/** What is allowed, when it is unpacked: one field of 4 MB that nobody knows. */
const roomy = framed(
  gzipSync(Buffer.concat([Buffer.from([0x7a, 0x80, 0x92, 0xf4, 0x01]), Buffer.alloc(4_000_000)])),
  true,
);

function damaged(random: Random): Buffer {
  const at = random(valid.length);
  const bytes = Buffer.from(Array.from({ length: random(12) }, () => random(256)));
  return Buffer.concat([valid.subarray(0, at), bytes, valid.subarray(Math.min(at + random(12), valid.length))]);
}

const { extensions: _extensions, ...bareVictim } = victim;
const word = (random: Random) => random(2 ** 30).toString(36);

/** A frame of HTTP/2, of which there may be many. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A connection's beginning, and what no client would send then. */
function hostileFrames(random: Random): Buffer {
  const start = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, Buffer.alloc(0))]);
  const many = (one: Buffer, times: number) => Array.from({ length: times }, () => one);
  // `:method POST`, `:scheme http`, `:path /` of the static table.
  const headers = Buffer.from([0x83, 0x86, 0x84]);
  const rest = [
    many(frame(6, 0, 0, Buffer.alloc(8)), 5_000),
    many(frame(4, 0, 0, Buffer.from([0, 3, 0, 0, 0, random(100)])), 5_000),
    [frame(1, 0, 1, headers), ...many(frame(9, 0, 1, Buffer.alloc(16_000)), 50)],
    Array.from({ length: 2_000 }, (_, at) => [
      frame(1, 4, 2 * at + 1, headers),
      frame(3, 0, 2 * at + 1, Buffer.from([0, 0, 0, 8])),
    ]).flat(),
    [frame(0, 0, 1, Buffer.alloc(100)), frame(8, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff]))],
    [Buffer.from(Array.from({ length: 1 + random(500) }, () => random(256)))],
  ][random(6)];
  return Buffer.concat([start, ...(rest ?? [])]);
}

const fine = ["grpc 0", "grpc 3", "grpc 5", "grpc 6"];

export const rpcAttacks: readonly AttackClass[] = [
  {
    name: "calls as a client makes them",
    transport: "gRPC",
    share: 10,
    ends: ["grpc 0"],
    send: (clients) => clients.grpc(fetchClusters, framed(valid)),
  },
  {
    name: "messages that grow when unpacked",
    transport: "gRPC",
    share: 5,
    ends: ["grpc 8", "grpc 14"],
    send: (clients, random) =>
      clients.grpc(random(2) === 0 ? fetchClusters : deltaFetch, gzipBomb, { "grpc-encoding": "gzip" }),
  },
  {
    name: "107 bytes that would be 60 MB",
    transport: "gRPC",
    share: 10,
    ends: ["grpc 12"],
    send: (clients, random) =>
      clients.grpc(random(2) === 0 ? fetchClusters : deltaFetch, brotliBomb, { "grpc-encoding": "br" }),
  },
  {
    name: "50 messages to unpack at once",
    transport: "gRPC",
    share: 0.5,
    ends: ["grpc 3", "grpc 14"],
    send: async (clients) => {
      const calls = Array.from({ length: 50 }, () => clients.grpc(deltaFetch, roomy, { "grpc-encoding": "gzip" }));
      const ends = await Promise.all(calls);
      return ends.find(({ status }) => status !== "grpc 3" && status !== "grpc 14") ?? { status: "grpc 3", text: "" };
    },
  },
  {
    name: "half a million parts in a megabyte",
    transport: "gRPC",
    share: 4,
    ends: ["grpc 3", "grpc 8", "grpc 14"],
    send: (clients, random) =>
      random(3) === 0
        ? clients.grpc(fetchClusters, packed, { "grpc-encoding": "gzip" })
        : clients.grpc(fetchClusters, largest[random(2)] ?? Buffer.alloc(0)),
  },
  {
    name: "damaged messages",
    transport: "gRPC",
    share: 30,
    ends: [...fine, "grpc 8"],
    send: (clients, random) => clients.grpc(random(2) === 0 ? fetchClusters : deltaFetch, framed(damaged(random))),
  },
  {
    name: "frames that lie",
    transport: "gRPC",
    share: 10,
    ends: ["grpc 3", "grpc 8"],
    send: (clients, random) => {
      const frame = framed(valid);
      frame.writeUInt32BE(random(2) === 0 ? 0xffffffff : valid.length + 1 + random(1_000), 1);
      return clients.grpc(fetchClusters, frame);
    },
  },
  {
    name: "methods that are not there",
    transport: "gRPC",
    share: 10,
    ends: ["grpc 12"],
    send: (clients, random) =>
      clients.grpc(["/constructor", "/__proto__/toString", "/a/b"][random(3)] ?? "", Buffer.alloc(0)),
  },
  {
    name: "calls taken back at once",
    transport: "HTTP/2",
    share: 50,
    ends: ["reset"],
    send: (clients, random) => clients.reset(fetchClusters, random(2) === 0 ? framed(valid) : Buffer.alloc(3)),
  },
  {
    name: "frames that are none, or too many",
    transport: "HTTP/2",
    share: 20,
    ends: ["closed", "open"],
    send: (clients, random) => clients.frames(hostileFrames(random)),
  },
  {
    name: "JSON, whole and damaged",
    transport: "Connect",
    share: 20,
    ends: ["200", "400", "404", "409"],
    send: (clients, random) => {
      const text = pollOf("clusters", bareVictim);
      const at = random(text.length);
      const body = random(4) === 0 ? text : text.slice(0, at) + word(random) + text.slice(at + random(20));
      const headers = { "content-type": "application/json" };
      return clients.http({ path: random(2) === 0 ? fetchClusters : deltaFetch, headers, body });
    },
  },
  {
    name: "messages, whole and damaged",
    transport: "Connect",
    share: 30,
    ends: ["200", "400", "404", "409"],
    send: (clients, random) => {
      const isWhole = random(4) === 0;
      const headers = { "content-type": "application/proto" };
      return clients.http({ path: fetchClusters, headers, body: isWhole ? valid : damaged(random) });
    },
  },
  {
    name: "messages of 16 MB, or packed",
    transport: "Connect",
    share: 2,
    ends: ["429", "501", "closed"],
    send: (clients, random) => {
      const type = random(2) === 0 ? "application/proto" : "application/json";
      // Whoever does not stop sending when he is answered may lose his connection.
      return random(2) === 0
        ? clients.http({
            path: fetchClusters,
            headers: { "content-type": type, connection: "close" },
            body: unknown.subarray(0, 16_000_000),
          })
        : clients.http({
            path: fetchClusters,
            headers: { "content-type": type, "content-encoding": "br" },
            body: brotliBomb,
          });
    },
  },
  {
    name: "messages, whole and damaged",
    transport: "gRPC-Web",
    share: 10,
    ends: ["200"],
    send: (clients, random) => {
      const headers = { "content-type": "application/grpc-web+proto" };
      const body = random(4) === 0 ? framed(valid) : framed(damaged(random));
      return clients.http({ path: fetchClusters, headers, body });
    },
  },
];
