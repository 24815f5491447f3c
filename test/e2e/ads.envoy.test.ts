import { fromJson, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClusterSchema } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { hashOf } from "../../lib/base/blob.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { frontApp } from "../../lib/front/app.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { createFront } from "../../lib/front/front.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import {
  type Bookshop,
  openBookshop,
  rejections,
  serverNames,
  shopHost,
  startGateway,
  withWeights,
} from "./bookshop.ts";
import { startDev } from "./dev-process.ts";
import { eventually, type RunningEnvoy } from "./envoy.ts";
import { failures, startTraffic } from "./traffic.ts";

/** `EDITS=200 npx vitest run test/e2e/ads.envoy.test.ts` for more than CI has time for. */
const edits = Number(process.env.EDITS ?? 12);

describe.each(["delta", "sotw"] as const)("an Envoy on a stream, %s", (transport) => {
  let shop: Bookshop;
  let dev: Awaited<ReturnType<typeof startDev>>;
  let envoy: RunningEnvoy;

  beforeAll(async () => {
    shop = await openBookshop();
    dev = await startDev(shop.folder, ["--grpc-port", "0", "--certificates", "none"]);
    envoy = await startGateway(dev.grpcUrl, { transport, certificates: "none" });
  }, 120_000);

  afterAll(async () => {
    await envoy?.stop();
    await dev?.stop();
    await shop?.close();
  });

  const stat = async (name: string) => Number((await envoy.stat(name)) ?? 0);
  const routeReloads = () => stat(`http.outbound_0.0.0.0_${shop.port};.rds.http.${shop.port}.config_reload`);

  it("follows edits of routes, clusters and endpoints under traffic, and no request fails", async () => {
    const traffic = startTraffic(shop.port, shopHost, "/catalog");
    await eventually(
      async () => traffic.counts().get("catalog-v1") ?? 0,
      (count) => count > 20,
    );
    const tookMs: number[] = [];
    for (let i = 0; i < edits; i += 1) {
      if (i % 3 === 2) {
        // A cluster that changes has to warm again, with endpoints that are what they were.
        const updates = await stat("cluster_manager.cluster_modified");
        await shop.edit("catalog.yaml", (text) =>
          text.replace(
            /host: catalog\n( {2}trafficPolicy:.*\n)?/,
            `host: catalog\n  trafficPolicy: {connectionPool: {tcp: {maxConnections: ${100 + i}}}}\n`,
          ),
        );
        await eventually(
          () => stat("cluster_manager.cluster_modified"),
          (count) => count > updates,
          30_000,
        );
        await eventually(
          () => stat("cluster_manager.warming_clusters"),
          (count) => count === 0,
        );
        continue;
      }
      const before = await routeReloads();
      const startMs = performance.now();
      await shop.edit("catalog.yaml", withWeights(5 + (i % 90), 95 - (i % 90)));
      await eventually(routeReloads, (count) => count > before, 30_000);
      tookMs.push(performance.now() - startMs);
    }
    await traffic.stop();
    expect(failures(traffic, serverNames)).toEqual(new Map());
    expect(await rejections(envoy)).toEqual([]);
    const middle = tookMs.toSorted((a, b) => a - b)[tookMs.length >> 1] ?? 0;
    console.log(`${transport}: an edit of routes is in force after ${Math.round(middle)} ms (p50 of ${tookMs.length})`);
  }, 600_000);
});

/** A front on a store, for an Envoy that outlives it. */
async function serve(store: ObjectStore, port: number) {
  const front = createFront({ store });
  const app = frontApp(front);
  const server = await serveGrpc(front, port);
  return {
    url: server.url,
    refusals: async (): Promise<string> => (await app.request("/refusals")).text(),
    async close() {
      front.close();
      await server.close();
    },
  };
}

const publisherOf = (store: ObjectStore) => createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });

describe("an Envoy on a delta stream whose front is started anew", () => {
  it("subscribes with its versions, gets nothing anew, and is told of the next change", async () => {
    const shop = await openBookshop();
    const store = memoryStore();
    const publisher = publisherOf(store);
    const compile = createFileCompiler({ ...defaultWorldOptions, certificates: "none", binaryForms: true });
    const publish = async () => {
      await publisher.publish(compile(await readFolder(shop.folder), []).value, await publisher.head());
    };
    await publish();
    const first = await serve(store, 0);
    const envoy = await startGateway(first.url, { transport: "delta", certificates: "none" });
    const updates = async () =>
      Promise.all(
        [
          "cluster_manager.cds.update_success",
          "listener_manager.lds.update_success",
          `http.outbound_0.0.0.0_${shop.port};.rds.http.${shop.port}.update_success`,
        ].map((name) => envoy.stat(name)),
      );
    const connected = () => envoy.stat("control_plane.connected_state");
    await eventually(updates, (counts) => counts.every((count) => Number(count) > 0));
    const before = await updates();
    await first.close();
    await eventually(connected, (state) => state === 0);
    const second = await serve(store, Number(new URL(first.url).port));
    await eventually(connected, (state) => state === 1, 30_000);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await updates()).toEqual(before);
    await shop.edit("catalog.yaml", withWeights(30, 70));
    await publish();
    await eventually(updates, (counts) => counts[2] === Number(before[2]) + 1);
    expect((await updates()).slice(0, 2)).toEqual(before.slice(0, 2));
    await envoy.stop();
    await second.close();
    await shop.close();
  }, 120_000);
});

describe.each(["delta", "sotw"] as const)("an Envoy that refuses what it is sent, %s", (transport) => {
  it("is heard in its own words, and the object behind it is named", async () => {
    const shop = await openBookshop();
    const store = memoryStore();
    const publisher = publisherOf(store);
    const compile = createFileCompiler({ ...defaultWorldOptions, certificates: "none", binaryForms: true });
    const { value: good } = compile(await readFolder(shop.folder), []);
    await publisher.publish(good, await publisher.head());
    const served = await serve(store, 0);
    const envoy = await startGateway(served.url, { transport, certificates: "none" });
    const bad = {
      ...good,
      classes: good.classes.map((one) => ({
        ...one,
        stream: { ...one.stream, clusters: [[...resourcesIn(one.stream.clusters), brokenCluster].toSorted(byName)] },
      })),
    };
    await publisher.publish(bad, await publisher.head());
    const told = await eventually(served.refusals, (text) => text.includes("zz-broken"));
    expect(JSON.parse(told)).toMatchObject({
      refusals: [
        {
          type: "clusters",
          error: expect.stringContaining("positive duration"),
          suspects: [{ name: "zz-broken", from: ["DestinationRule/bookshop/broken"] }],
        },
      ],
    });
    await publisher.publish(good, await publisher.head());
    await eventually(served.refusals, (text) => !text.includes("zz-broken"));
    await envoy.stop();
    await served.close();
    await shop.close();
  }, 120_000);
});

const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);

/** What no Envoy takes: a time-out below nothing. */
const brokenJson = {
  "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  name: "zz-broken",
  type: "STATIC",
  connectTimeout: "-1s",
} as const;
const brokenText = JSON.stringify(brokenJson);
const { "@type": _type, ...brokenMessage } = brokenJson;
const brokenCluster = {
  name: "zz-broken",
  text: brokenText,
  version: hashOf(brokenText),
  from: ["DestinationRule/bookshop/broken"],
  binary: new Uint8Array(toBinary(ClusterSchema, fromJson(ClusterSchema, brokenMessage))),
};
