import { S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { frontApp } from "../../lib/front/app.ts";
import { createFront, type Front } from "../../lib/front/front.ts";
import { twoStores } from "../../lib/front/heads/two-stores.ts";
import { type RunningServer, serveHttp } from "../../lib/front/node-server.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { replicate } from "../../lib/snapshot/regions/replicate.ts";
import { takeOver } from "../../lib/snapshot/regions/take-over.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { eventually } from "../e2e/envoy.ts";
import { nodeOf, pollBody } from "../front/fixtures.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { type S3Server, startS3 } from "../storage/s3-server.ts";
import { type SilentProxy, startSilentProxy } from "../storage/silent-proxy.ts";

const pace = { settleMs: 0, retentionMs: 0 };

/** A region with a store, and the way that fronts have to it. */
interface Region {
  readonly server: S3Server;
  readonly way: SilentProxy;
  /** As its writer sees it, and as fronts do. */
  readonly store: ObjectStore;
  readonly seen: ObjectStore;
}

async function startRegion(): Promise<Region> {
  const server = await startS3();
  const way = await startSilentProxy(server.endpoint);
  const { accessKeyId, secretAccessKey, bucket } = server;
  const client = new S3Client({
    endpoint: way.endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  return { server, way, store: s3Store({ client: server.client, bucket }), seen: s3Store({ client, bucket }) };
}

async function publish(store: ObjectStore, content: string): Promise<void> {
  const publisher = createPublisher(store, { pace });
  const world = worldOf({ web: { clusters: { a: content } } });
  await publisher.publish(world, await publisher.head());
}

let east: Region;
let west: Region;
const fronts: { readonly front: Front; readonly server: RunningServer }[] = [];
const errors: string[] = [];

async function startFront(): Promise<string> {
  const onError = (cause: unknown) => errors.push(String(cause));
  const front = createFront({ store: twoStores(east.seen, west.seen), headTtlMs: 200, maxHoldMs: 20_000, onError });
  const server = await serveHttp(frontApp(front), 0);
  fronts.push({ front, server });
  return server.url;
}

/** Polls as a node that has a version. */
async function poll(url: string, version?: string, patienceMs = 5_500) {
  const response = await fetch(`${url}/v3/discovery:clusters`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-envoy-expected-rq-timeout-ms": String(patienceMs) },
    body: pollBody("clusters", nodeOf("web"), version === undefined ? {} : { version }),
  });
  const text = await response.text();
  if (response.status !== 200) return { status: response.status, version, content: undefined };
  const { version_info, resources } = JSON.parse(text);
  return { status: 200, version: String(version_info), content: String(resources[0].content) };
}

beforeAll(async () => {
  [east, west] = await Promise.all([startRegion(), startRegion()]);
}, 60_000);

afterAll(async () => {
  for (const { front, server } of fronts) {
    front.close();
    await server.close();
  }
  for (const region of [east, west]) {
    await region?.way.close();
    await region?.server.close();
  }
});

describe("two regions, of which one is written to", () => {
  it("the second lags, the first is lost: nothing older is served, until somebody has the second take over", async () => {
    await publish(east.store, "1");
    await replicate(east.store, west.store);
    await publish(east.store, "2");
    await publish(east.store, "3");
    const url = await startFront();
    const third = await poll(url);
    expect(third.content).toBe("3");

    // East is silent, with all that it has: generation 3, of which west knows 1.
    east.way.silence();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await poll(url, third.version)).toMatchObject({ status: 304 });
    expect(await poll(url)).toMatchObject({ status: 200, content: "3" });
    await eventually(
      async () => errors.join(),
      (told) => told.includes("is at generation 1, and 3 was served"),
    );
    const health = await fetch(`${url}/healthz`).then((response) => response.json());
    expect(health).toMatchObject({ generation: 3 });
    expect(JSON.stringify(health)).toContain("HEAD was not confirmed");

    // What is served then is older, and somebody has said so: held polls are answered with it.
    const held = poll(url, third.version, 25_000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await takeOver(west.store, { pace, by: "ann", why: "east is down" });
    // Where that takes longer than a front waits for a silent store, the next poll gets it.
    const atOnce = await held;
    const asking = () => poll(url, third.version);
    const back = atOnce.status === 200 ? atOnce : await eventually(asking, ({ status }) => status === 200);
    expect(back).toMatchObject({ status: 200, content: "1" });
    await publish(west.store, "4");
    await eventually(
      async () => (await poll(url, back.version)).content,
      (content) => content === "4",
    );
    const fourth = await poll(url);

    // East comes back, its writer has not heard of anything: fronts stay with west.
    east.way.recover();
    await publish(east.store, "5");
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await poll(url)).toMatchObject({ content: "4" });
    expect(await poll(await startFront())).toMatchObject({ content: "4" });

    // It becomes the copy, and fronts follow west's writer through either.
    await expect(replicate(west.store, east.store)).rejects.toThrow("--discard");
    await replicate(west.store, east.store, { discards: true });
    expect((await fsck(east.store)).problems).toEqual([]);
    expect((await readHead(east.store))?.head.generation).toBe(2001);
    await publish(west.store, "6");
    await replicate(west.store, east.store);
    west.way.silence();
    await eventually(
      async () => (await poll(url, fourth.version)).content,
      (content) => content === "6",
    );
    expect(await poll(await startFront())).toMatchObject({ content: "6" });
  }, 120_000);
});
