import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { startBridge } from "../e2e/lambda-bridge.ts";
import { type S3Server, startS3 } from "../storage/s3-server.ts";
import { LambdaEnvironments } from "./lambda-environments.ts";
import { lambdaFunctions } from "./lambda-functions.ts";
import { pushShop } from "./weighted-shop.ts";

const secret = "a-shared-secret";
const node = { id: "router~127.0.0.1~istio-ingressgateway-1.bookshop~bookshop.svc.cluster.local", cluster: "x" };

let server: S3Server;
let store: ObjectStore;
let front: LambdaEnvironments;
let compile: LambdaEnvironments;
const bridges: { readonly url: string; close(): Promise<void> }[] = [];

beforeAll(async () => {
  server = await startS3();
  store = s3Store({ client: server.client, bucket: server.bucket });
  const code = await lambdaFunctions();
  const env = {
    PORTOLAN_BUCKET: server.bucket,
    PORTOLAN_S3_ENDPOINT: server.endpoint,
    PORTOLAN_WEBHOOK_SECRET: secret,
    PORTOLAN_AUTHENTICATION: "off",
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: server.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
  };
  front = new LambdaEnvironments(code.front, env);
  compile = new LambdaEnvironments(code.compile, env);
  bridges.push(await startBridge(front.handler), await startBridge(compile.handler));
});
afterAll(async () => {
  await Promise.all(bridges.map((bridge) => bridge.close()));
  await Promise.all([front.kill(), compile.kill()]);
  await server.close();
});

const push = (weight: number) => pushShop(bridges[1]?.url ?? "", secret, weight);

async function poll(had = ""): Promise<{ readonly status: number; readonly version: string }> {
  const answer = await fetch(`${bridges[0]?.url}/v3/discovery:clusters`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ node, version_info: had, type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster" }),
  });
  const body = await answer.text();
  return { status: answer.status, version: answer.status === 200 ? JSON.parse(body).version_info : had };
}

/** Polls until told to stop. @returns answers that are neither a new version nor "as you have it" */
async function pollOn(isEnding: () => boolean): Promise<readonly number[]> {
  const others: number[] = [];
  let had = "";
  while (!isEnding()) {
    const { status, version } = await poll(had);
    if (status !== 200 && status !== 304) others.push(status);
    had = version;
  }
  return others;
}

describe("the functions on Lambda, which are frozen with their answer and end without a signal", () => {
  it("have done everything when they answer, under traffic", async () => {
    expect(await push(10)).toBe(200);
    let ending = false;
    const traffic = Array.from({ length: 3 }, () => pollOn(() => ending));
    for (let weight = 11; weight < 17; weight += 1) {
      const before = (await readHead(store))?.head.generation ?? 0;
      expect(await push(weight)).toBe(200);
      // Killed, frozen for a while and thawed, or used again at once: nothing may have been left for later.
      if (weight % 3 === 0) await compile.kill();
      if (weight % 3 === 1) await sleep(1_500);
      expect((await readHead(store))?.head.generation).toBe(before + 1);
      expect(await push(weight)).toBe(409);
      if (weight % 2 === 0) await front.kill();
    }
    ending = true;
    expect((await Promise.all(traffic)).flat()).toEqual([]);
    expect((await fsck(store)).problems).toEqual([]);

    const warm = await poll();
    await front.kill();
    const startedBefore = front.started;
    expect(await poll()).toEqual(warm);
    expect(front.started).toBe(startedBefore + 1);
  }, 120_000);
});
