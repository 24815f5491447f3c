import { create, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DiscoveryRequestSchema,
} from "../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import type { AttackClass } from "./attack-class.ts";
import type { Random } from "./random.ts";
import { framed } from "./rpc-attacks.ts";
import { typeUrls, victim } from "./world.ts";

const service = "/envoy.service.discovery.v3.AggregatedDiscoveryService";
const sotw = `${service}/StreamAggregatedResources`;
const delta = `${service}/DeltaAggregatedResources`;

const node = { id: victim.id, cluster: victim.cluster, metadata: victim.metadata };
const word = (random: Random) => random(2 ** 30).toString(36);

const asked = (more: object) =>
  toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node, typeUrl: typeUrls.clusters, ...more }));
const askedByDelta = (more: object) =>
  toBinary(
    DeltaDiscoveryRequestSchema,
    create(DeltaDiscoveryRequestSchema, { node, typeUrl: typeUrls.clusters, ...more }),
  );

/** What a reader says that has more than there ever was: as many names as a message may bring. */
const hoard = framed(
  askedByDelta({
    initialResourceVersions: Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`n${at}`, "v"])),
  }),
);
/** As many names as a stream may remember, a tenth of them in each message, and then hundreds one by one. */
const manyThenFew = [
  ...Array.from({ length: 15 }, (_, of) =>
    framed(
      askedByDelta({
        typeUrl: typeUrls.routes,
        resourceNamesSubscribe: Array.from({ length: 10_000 }, (_, at) => `n${(of * 10_000 + at).toString(36)}`),
      }),
    ),
  ),
  ...Array.from({ length: 400 }, (_, at) =>
    framed(askedByDelta({ node: undefined, typeUrl: typeUrls.routes, resourceNamesSubscribe: [`one${at}`] })),
  ),
];
/** Names that begin with one another, and then megabytes of words against them. */
const wordy = [
  framed(
    askedByDelta({
      typeUrl: typeUrls.routes,
      resourceNamesSubscribe: Array.from({ length: 1_000 }, (_, at) => "a".repeat(at + 1)),
    }),
  ),
  framed(
    askedByDelta({
      typeUrl: typeUrls.routes,
      responseNonce: "1",
      errorDetail: { code: 13, message: "a".repeat(3_900_000) },
    }),
  ),
];
const hungry = framed(
  asked({ typeUrl: typeUrls.routes, resourceNames: Array.from({ length: 9_999 }, (_, at) => `route-${at}`) }),
);

/** Acknowledgements, refusals and wishes that follow from nothing that was sent. */
function nonsense(random: Random): readonly Buffer[] {
  const error = { code: random(20), message: word(random).repeat(1 + random(200)) };
  const all = Object.values(typeUrls);
  return Array.from({ length: 1 + random(40) }, () => {
    const typeUrl = random(5) === 0 ? `type.googleapis.com/${word(random)}` : (all[random(all.length)] ?? "");
    const more = {
      typeUrl,
      versionInfo: word(random),
      responseNonce: word(random),
      resourceNames: Array.from({ length: random(20) }, () => word(random)),
      ...(random(2) === 0 ? { errorDetail: error } : {}),
    };
    return framed(asked(more));
  });
}

function damaged(random: Random): Buffer {
  const valid = random(2) === 0 ? asked({}) : askedByDelta({});
  const at = random(valid.length);
  const bytes = Buffer.from(Array.from({ length: random(12) }, () => random(256)));
  return framed(Buffer.concat([valid.subarray(0, at), bytes, valid.subarray(Math.min(at + random(12), valid.length))]));
}

const either = (random: Random) => (random(2) === 0 ? sotw : delta);

/** `open`: it waits for something that there is not, as streams do. */
const ends = ["answered", "open", "grpc 3", "grpc 5", "grpc 8", "grpc 12", "grpc 14"];

export const streamAttacks: readonly AttackClass[] = [
  {
    name: "streams as an Envoy opens them",
    transport: "stream",
    share: 10,
    ends: ["answered"],
    send: (clients, random) =>
      random(2) === 0
        ? clients.stream(sotw, [framed(asked({}))], "patiently")
        : clients.stream(delta, [framed(askedByDelta({}))], "patiently"),
  },
  {
    name: "first messages that are damaged",
    transport: "stream",
    share: 10,
    ends,
    send: (clients, random) => clients.stream(either(random), [damaged(random)]),
  },
  {
    name: "answers to what was never sent",
    transport: "stream",
    share: 10,
    ends,
    send: (clients, random) =>
      clients.stream(sotw, [...(random(2) === 0 ? [framed(asked({}))] : []), ...nonsense(random)]),
  },
  {
    name: "readers that say they have 60,000 resources, or want 10,000",
    transport: "stream",
    share: 2,
    ends,
    send: (clients, random) => (random(2) === 0 ? clients.stream(delta, [hoard]) : clients.stream(sotw, [hungry])),
  },
  {
    name: "readers of 150,000 names that ask for one more, 400 times",
    transport: "stream",
    share: 0.1,
    ends: ["left", "grpc 8", "grpc 14"],
    send: (clients) => clients.stream(delta, manyThenFew, "unread"),
  },
  {
    name: "refusals of 4 MB, of names that begin with one another",
    transport: "stream",
    share: 0.5,
    ends: ["answered", "open", "grpc 14"],
    send: (clients) => clients.stream(delta, wordy),
  },
  {
    name: "streams that nobody reads",
    transport: "stream",
    share: 5,
    ends: ["left", "grpc 14"],
    send: (clients, random) => clients.stream(sotw, [framed(asked({})), ...nonsense(random)], "unread"),
  },
  {
    name: "streams taken back at once",
    transport: "stream",
    share: 10,
    ends: ["reset"],
    send: (clients, random) => clients.reset(either(random), framed(asked({}))),
  },
];
