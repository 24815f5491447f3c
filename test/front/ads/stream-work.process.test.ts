import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterEach, describe, expect, it } from "vitest";
import { DeltaDiscoveryRequestSchema } from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { DeltaQuestionSchema } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { frontHost } from "../../../lib/front/ads/front-host.ts";
import { createReportedNacks, type ReportedNack } from "../../../lib/front/ads/reported-nacks.ts";
import { deltaRequest } from "../../../lib/front/ads/requests.ts";
import { createBudget } from "../../../lib/limits/budget.ts";
import { limits } from "../../../lib/limits/limits.ts";
import type { SnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { typeUrlOf } from "../../../lib/snapshot/resource-type.ts";
import { discoveryStream, type StreamAnswer, type StreamRequest } from "../../../lib/streams/stream.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, testFront } from "../fixtures.ts";
import { withBinary } from "./streams.ts";

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const ask = (more: object): StreamRequest => {
  const message = create(DeltaDiscoveryRequestSchema, { node: nodeOf("web"), typeUrl: typeUrlOf("routes"), ...more });
  return deltaRequest(fromBinary(DeltaQuestionSchema, toBinary(DeltaDiscoveryRequestSchema, message)), limits);
};

/** Sends requests, all at once, and takes answers until there were so many. */
async function served(requests: readonly StreamRequest[], isLast: (answer: StreamAnswer) => boolean) {
  const test = testFront();
  // Every name that is asked for lies between these, so that looking for one reads the segment.
  await test.publish(withBinary(worldOf({ web: { routes: { a: "1", z: "1" } } })));
  let lookups = 0;
  const reader: SnapshotReader = {
    ...test.front.reader,
    entries: (ref) => {
      lookups += 1;
      return test.front.reader.entries(ref);
    },
  };
  const refused: ReportedNack[] = [];
  const refusals = createReportedNacks(
    reader,
    () => 0,
    () => {},
    limits,
  );
  const gone = new AbortController();
  closing.push(() => gone.abort(), test.front.close);
  async function* all() {
    yield* requests;
    await new Promise((resolve) => gone.signal.addEventListener("abort", resolve));
  }
  const host = frontHost(
    test.front,
    "delta",
    { kind: "anyone" },
    {
      sources: { reader, differences: test.front.differences, known: new WeakMap() },
      refusals: { ...refusals, refused: (_who, said) => refused.push(said) },
      budget: createBudget(limits.watchedBytes),
    },
  );
  const answers = discoveryStream<StreamAnswer>(host, all(), {
    kind: "delta",
    signal: gone.signal,
    write: async (message) => ({ message, leave: () => {} }),
    writeSecrets: () => {
      throw new Error("no secrets are asked for");
    },
  });
  const got: StreamAnswer[] = [];
  for await (const answer of answers) {
    got.push(answer);
    if (isLast(answer)) break;
  }
  return { got, lookups, refused };
}

describe("a stream whose reader names many resources", () => {
  it("looks for each name once, however many requests come after it before it is answered", async () => {
    const many = Array.from({ length: 10 }, (_, of) =>
      ask({ resourceNamesSubscribe: Array.from({ length: 1_000 }, (_, i) => `m${of}-${i}`) }),
    );
    const single = Array.from({ length: 500 }, (_, i) => ask({ resourceNamesSubscribe: [`n${i}`] }));
    const last = ask({ resourceNamesSubscribe: ["z"] });
    const { got, lookups } = await served([...many, ...single, last], ({ changed }) => changed.length > 0);
    expect(got.flatMap(({ removed }) => removed)).toHaveLength(10_500);
    expect(lookups).toBeLessThan(10_600);
  });

  it("takes of a refusal as much as Envoy says, and names what it is about", async () => {
    const names = Array.from({ length: 1_000 }, (_, i) => "m".repeat(i + 1));
    const error = { code: 13, message: `m: ${"m".repeat(3_900_000)}` };
    const requests = [
      ask({ resourceNamesSubscribe: names }),
      ask({ responseNonce: "1", errorDetail: error }),
      ask({ resourceNamesSubscribe: ["z"] }),
    ];
    const { refused } = await served(requests, ({ changed }) => changed.length > 0);
    expect(refused).toMatchObject([{ names: ["m"] }]);
    expect(refused[0]?.error.length).toBe(4_200);
  });
});
