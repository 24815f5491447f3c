/** `/livez`, `/readyz` and `/healthz` of the fronts at the edge, while the root in force is there, lost, and there again. */
import type { R2Bucket } from "@cloudflare/workers-types";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { blobKey } from "../../lib/base/blob.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { eventually } from "../e2e/envoy.ts";
import { startBridge } from "../e2e/lambda-bridge.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { type S3Server, startS3 } from "../storage/s3-server.ts";
import { LambdaEnvironments } from "./lambda-environments.ts";
import { lambdaFunctions } from "./lambda-functions.ts";

const harness = createTestHarness({
  workers: [
    {
      configPath: new URL("../../wrangler.toml", import.meta.url),
      // Nobody has said who may read, so nobody may: probes are answered all the same.
      vars: { AUTHENTICATION: "" },
    },
  ],
});
let server: S3Server;
let lambda: LambdaEnvironments;
let bridge: Awaited<ReturnType<typeof startBridge>>;
const fronts: { readonly name: string; readonly url: string; readonly store: ObjectStore }[] = [];

beforeAll(async () => {
  const { url } = await harness.listen();
  const { SNAPSHOTS } = await harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>().getEnv();
  fronts.push({ name: "workerd", url: url.origin, store: r2Store(SNAPSHOTS) });
  server = await startS3();
  lambda = new LambdaEnvironments((await lambdaFunctions()).front, {
    PORTOLAN_BUCKET: server.bucket,
    PORTOLAN_S3_ENDPOINT: server.endpoint,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: server.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
  });
  bridge = await startBridge(lambda.handler);
  fronts.push({ name: "lambda", url: bridge.url, store: s3Store({ client: server.client, bucket: server.bucket }) });
}, 120_000);
afterAll(async () => {
  await harness.close();
  await bridge.close();
  await lambda.kill();
  await server.close();
});

it.each([0, 1])(
  "of front %i follow the root in force",
  async (at) => {
    const front = fronts[at];
    if (front === undefined) throw new Error("there are two fronts");
    const { url, store } = front;
    const statuses = () =>
      Promise.all(["/livez", "/readyz", "/healthz"].map(async (path) => (await fetch(url + path)).status));
    const until = (wanted: readonly number[]) =>
      eventually(statuses, (found) => JSON.stringify(found) === JSON.stringify(wanted));
    // Of several environments of a Lambda function each looks for itself, once a second.
    const reason = async () =>
      (
        await eventually(
          () => fetch(`${url}/readyz`),
          ({ status }) => status === 503,
        )
      ).json();

    await until([200, 503, 503]);
    expect(await reason()).toEqual({ status: 503, detail: "nothing was published yet" });
    const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
    const publish = async (content: string) =>
      publisher.publish(worldOf({ web: { clusters: { a: content } } }), await publisher.head());
    await publish("1");
    await until([200, 200, 200]);

    // What HEAD leads to next is gone before anybody has read it.
    await publish("2");
    const key = blobKey((await readHead(store))?.head.steps.at(-1)?.root ?? "");
    const found = await store.get(key);
    if (found.kind !== "found") throw new Error("a root was published");
    await store.delete(key);
    await until([200, 503, 503]);
    expect(await reason()).toEqual({
      status: 503,
      detail: "the snapshot in force cannot be read: the store cannot be read",
    });
    await store.put(key, found.bytes);
    await until([200, 200, 200]);
  },
  60_000,
);
