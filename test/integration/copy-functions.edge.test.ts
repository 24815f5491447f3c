/** Fronts of Lambda and of Workers with a copy of their bucket: what they answer while the bucket is silent, or has lost what it had. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { R2Bucket } from "@cloudflare/workers-types";
import picocolors from "picocolors";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createTestHarness } from "wrangler";
import { runCli } from "../../lib/cli/program.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { replicate } from "../../lib/snapshot/regions/replicate.ts";
import { takeOver } from "../../lib/snapshot/regions/take-over.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { openStore } from "../../lib/storage/open-store.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { eventually } from "../e2e/envoy.ts";
import { startBridge } from "../e2e/lambda-bridge.ts";
import { nodeOf, pollBody } from "../front/fixtures.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { type S3Server, startS3 } from "../storage/s3-server.ts";
import { type SilentProxy, startSilentProxy } from "../storage/silent-proxy.ts";
import { writeFrontConfig } from "./front-config.ts";
import { LambdaEnvironments } from "./lambda-environments.ts";
import { lambdaFunctions } from "./lambda-functions.ts";

async function publish(store: ObjectStore, content: string): Promise<void> {
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  await publisher.publish(worldOf({ web: { clusters: { a: content } } }), await publisher.head());
}

/** @returns the status, or what a node is served */
async function served(url: string): Promise<number | string> {
  const response = await fetch(`${url}/v3/discovery:clusters`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: pollBody("clusters", nodeOf("web")),
  });
  const text = await response.text();
  return response.status === 200 ? String(JSON.parse(text).resources[0].content) : response.status;
}

const until = (url: string, content: string) =>
  eventually(
    () => served(url),
    (told) => told === content,
  );

let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "portolan-copy-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe("a front on Lambda with a copy in another region", () => {
  let east: S3Server;
  let west: S3Server;
  let way: SilentProxy;
  let bridge: Awaited<ReturnType<typeof startBridge>>;
  let front: LambdaEnvironments;
  const places = { east: "", west: "" };

  beforeAll(async () => {
    [east, west] = await Promise.all([startS3(), startS3(undefined, "eu-west-1")]);
    way = await startSilentProxy(east.endpoint);
    places.east = `s3://${east.bucket}/prod?endpoint=${way.endpoint}`;
    places.west = `s3://${west.bucket}/prod/?region=eu-west-1&endpoint=${west.endpoint}`;
    const env = {
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: east.accessKeyId,
      AWS_SECRET_ACCESS_KEY: east.secretAccessKey,
    };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    front = new LambdaEnvironments((await lambdaFunctions()).front, {
      ...env,
      PORTOLAN_BUCKET: east.bucket,
      PORTOLAN_PREFIX: "prod",
      PORTOLAN_S3_ENDPOINT: way.endpoint,
      PORTOLAN_STORE_COPY: places.west,
      PORTOLAN_AUTHENTICATION: "off",
    });
    bridge = await startBridge(front.handler);
  }, 60_000);
  afterAll(async () => {
    vi.unstubAllEnvs();
    await bridge.close();
    await front.kill();
    await way.close();
    await Promise.all([east.close(), west.close()]);
  });

  async function told(...args: readonly string[]): Promise<string> {
    const lines: string[] = [];
    const say = (line: string) => void lines.push(line);
    await runCli(["node", "portolan", ...args], { out: say, err: say, colours: picocolors.createColors(false) });
    return lines.join("\n");
  }

  it("goes on with the copy when the bucket falls silent, warm or started anew, and follows it when it has taken over", async () => {
    await publish(await openStore(places.east), "1");
    expect(await told("replicate", places.west, "--store", places.east)).toContain("generation 1");
    expect(await served(bridge.url)).toBe("1");
    expect(await told("recover", "--take-over", "--store", places.west)).toContain("answers and is at generation 1");

    way.silence();
    expect(await served(bridge.url)).toBe("1");
    // What was warm is gone.
    await front.kill();
    expect(await served(bridge.url)).toBe("1");
    expect(front.started).toBe(2);

    expect(await told("recover", "--take-over", "--store", places.west, "--why", "east is silent")).toContain("2000");
    await publish(await openStore(places.west), "2");
    await until(bridge.url, "2");
    // East comes back as it was, and its writer has not heard of anything.
    way.recover();
    await publish(await openStore(places.east), "3");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await served(bridge.url)).toBe("2");
  }, 120_000);
});

describe("a front in workerd with a second bucket", () => {
  let harness: ReturnType<typeof createTestHarness>;
  let url = "";
  let stores: { readonly first: ObjectStore; readonly copy: ObjectStore };

  beforeAll(async () => {
    const configPath = await writeFrontConfig(directory, { hasCopy: true });
    harness = createTestHarness({ workers: [{ configPath, vars: { AUTHENTICATION: "off", PREFIX: "prod/" } }] });
    url = (await harness.listen()).url.origin;
    const { SNAPSHOTS, SNAPSHOTS_COPY } = await harness
      .getWorker<{ readonly SNAPSHOTS: R2Bucket; readonly SNAPSHOTS_COPY: R2Bucket }>()
      .getEnv();
    stores = { first: r2Store(SNAPSHOTS, "prod/"), copy: r2Store(SNAPSHOTS_COPY, "prod/") };
  }, 120_000);
  afterAll(() => harness.close());

  it("answers from it what the first has lost, and follows it when it has taken over", async () => {
    const { first, copy } = stores;
    await publish(first, "1");
    await replicate(first, copy);
    const keys: string[] = [];
    for await (const { key } of first.list("")) keys.push(key);
    expect(keys.length).toBeGreaterThan(5);
    for (const key of keys) await first.delete(key);
    expect(await served(url)).toBe("1");
    await takeOver(copy);
    await publish(copy, "2");
    await until(url, "2");
    await publish(first, "3");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await served(url)).toBe("2");
  }, 60_000);
});
