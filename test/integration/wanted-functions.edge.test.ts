/** A node that no class was compiled for, at the functions as they are deployed: front, record, what wakes the compiler, class. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { signRequest } from "../../lib/compile/webhook/signature.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { eventBridgeEvent } from "../compile/triggers/events.ts";
import { startBridge } from "../e2e/lambda-bridge.ts";
import { type S3Server, startS3 } from "../storage/s3-server.ts";
import { writeFrontConfig } from "./front-config.ts";
import { LambdaEnvironments } from "./lambda-environments.ts";
import { lambdaFunctions } from "./lambda-functions.ts";
import { weightedShop } from "./weighted-shop.ts";

const secret = "a-shared-secret";

/** What only proxies with the label get. */
const own = `
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: late, namespace: bookshop}
spec:
  workloadSelector: {labels: {app: late}}
  egress: [{hosts: ["bookshop/reviews.bookshop.svc.cluster.local"]}]
`;

const node = {
  id: "sidecar~10.9.9.9~late-0.bookshop~bookshop.svc.cluster.local",
  cluster: "late.bookshop",
  metadata: { NAMESPACE: "bookshop", LABELS: { app: "late" } },
};

interface Posted {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Pushes the bookshop with that object, as one delivery. */
async function pushed(post: (path: string, init: Posted) => Promise<{ readonly status: number }>): Promise<number> {
  const target = "/sources/main";
  const body = JSON.stringify({ files: [...(await weightedShop(50)), { file: "late.yaml", text: own }] });
  const request = { method: "POST", target, body: new TextEncoder().encode(body) };
  const headers = await signRequest(secret, request, "delivery-wanted", Date.now());
  return (await post(target, { method: "POST", headers: { ...headers }, body })).status;
}

interface Polled {
  readonly status: number;
  readonly text: string;
}

async function poll(url: string): Promise<Polled> {
  const answer = await fetch(`${url}/v3/discovery:clusters`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ node }),
  });
  return { status: answer.status, text: await answer.text() };
}

/** As an Envoy does: again and again. @returns every answer up to the first with resources */
async function pollUntilServed(url: string): Promise<readonly Polled[]> {
  const polled: Polled[] = [];
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answer = await poll(url);
    polled.push(answer);
    if (answer.status === 200) break;
    await sleep(200);
  }
  return polled;
}

function expectItsOwnClass(polled: readonly Polled[]): void {
  const last = polled.at(-1);
  expect(last?.status).toBe(200);
  expect([last?.text.includes("reviews.bookshop"), last?.text.includes("catalog.bookshop")]).toEqual([true, false]);
  // Nobody was served what nodes without the label get meanwhile, and the reason was said.
  expect(new Set(polled.slice(0, -1).map(({ status }) => status))).toEqual(new Set([503]));
  expect(polled[0]?.text).toContain("is being compiled");
}

describe("on Lambda", () => {
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
      PORTOLAN_WANTED: "true",
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: server.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
    };
    front = new LambdaEnvironments(code.front, env);
    compile = new LambdaEnvironments(code.compile, env);
    bridges.push(await startBridge(front.handler), await startBridge(compile.handler));
  }, 120_000);
  afterAll(async () => {
    await Promise.all(bridges.map((bridge) => bridge.close()));
    await Promise.all([front.kill(), compile.kill()]);
    await server.close();
  });

  it("has its class with one event of the bucket, and is told why it waits until then", async () => {
    const [frontUrl = "", compileUrl = ""] = bridges.map(({ url }) => url);
    expect(await pushed((path, init) => fetch(compileUrl + path, init))).toBe(200);
    const before = await poll(frontUrl);
    expect(before.status).toBe(503);
    const keys: string[] = [];
    for await (const { key } of store.list("wanted/")) keys.push(key);
    expect(keys).toHaveLength(1);
    // What the rule of the stack in `infra/` passes on, once for each object.
    for (const key of keys) await compile.handler(eventBridgeEvent(key));
    expectItsOwnClass([before, ...(await pollUntilServed(frontUrl))]);
  }, 60_000);
});

describe("on Workers", () => {
  let harness: ReturnType<typeof createTestHarness>;
  let directory = "";
  let url = "";

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "portolan-wanted-"));
    harness = createTestHarness({
      workers: [
        { configPath: await writeFrontConfig(directory, { hasQueue: true }), vars: { AUTHENTICATION: "off" } },
        {
          configPath: new URL("../../wrangler.compile.toml", import.meta.url),
          secrets: { PORTOLAN_WEBHOOK_SECRET: secret },
        },
      ],
    });
    url = (await harness.listen()).url.origin;
  }, 120_000);
  afterAll(async () => {
    await harness.close();
    await rm(directory, { recursive: true, force: true });
  });

  it("has its class by the compile function's queue, and is told why it waits until then", async () => {
    const compile = harness.getWorker("portolan-compile");
    expect(await pushed((path, init) => compile.fetch(`http://compile${path}`, init))).toBe(200);
    expectItsOwnClass(await pollUntilServed(url));
  }, 90_000);
});
