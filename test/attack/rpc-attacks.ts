import { brotliCompressSync, gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { DiscoveryRequestSchema } from "../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import type { AttackClass } from "./attack-class.ts";
import type { Random } from "./random.ts";
import { typeUrls, victim } from "./world.ts";

const fetchClusters = "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters";
const deltaFetch = "/portolan.v1.SnapshotService/DeltaFetch";

/** A message in gRPC's frame. */
function framed(message: Uint8Array, compressed = false): Buffer {
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
const bombs = [
  ["br", framed(brotliCompressSync(unknown), true)],
  ["gzip", framed(gzipSync(unknown), true)],
] as const;
const largest = [framed(unknown.subarray(0, 1_000_000)), framed(extensions)];
const packed = framed(brotliCompressSync(extensions), true);

function damaged(random: Random): Buffer {
  const at = random(valid.length);
  const bytes = Buffer.from(Array.from({ length: random(12) }, () => random(256)));
  return Buffer.concat([valid.subarray(0, at), bytes, valid.subarray(Math.min(at + random(12), valid.length))]);
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
    share: 10,
    ends: ["grpc 8"],
    send: (clients, random) => {
      const [encoding, body] = bombs[random(bombs.length)] ?? bombs[0];
      return clients.grpc(random(2) === 0 ? fetchClusters : deltaFetch, body, { "grpc-encoding": encoding });
    },
  },
  {
    name: "half a million parts in a megabyte",
    transport: "gRPC",
    share: 4,
    ends: ["grpc 3", "grpc 8"],
    send: (clients, random) =>
      random(3) === 0
        ? clients.grpc(fetchClusters, packed, { "grpc-encoding": "br" })
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
    ends: ["404"],
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
            body: bombs[0][1],
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
