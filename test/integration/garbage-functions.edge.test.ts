/** Garbage that is collected by a schedule: by the compile Worker in workerd, and by a Lambda function of its own on a real S3 server. */
import type { R2Bucket } from "@cloudflare/workers-types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { usualGc } from "../../lib/compile/garbage.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { makeSigningKey, publicPart, type SigningJwk } from "../../lib/snapshot/head/signing-keys.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { ledgerKey, readLedger } from "../../lib/snapshot/upkeep/gc-ledger.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { allOf } from "../all-of.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { type S3Server, startS3 } from "../storage/s3-server.ts";
import { LambdaEnvironments } from "./lambda-environments.ts";
import { lambdaFunctions } from "./lambda-functions.ts";

const keep = 2;
const blobsIn = async (store: ObjectStore) => (await allOf(store.list("blobs/"))).length;

/** Publishes more than is kept, and names what is unused as a run two hours ago would have. */
async function leaveGarbage(store: ObjectStore, signer?: SigningJwk): Promise<number> {
  const trust = signer === undefined ? {} : { signer, trusted: [publicPart(signer)] };
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 }, ...trust });
  for (const content of ["1", "2", "3", "4", "5"])
    await publisher.publish(worldOf({ web: { clusters: { a: content } } }), await publisher.head());
  const marked = await collectGarbage(store, {
    ...usualGc,
    ...trust,
    graceMs: 0,
    keepPublications: keep,
    now: Date.now,
  });
  expect(marked.doomed).toBeGreaterThan(0);
  const ledger = (await readLedger(store))?.ledger;
  const since = new Date(Date.now() - 2 * 3_600_000).toISOString();
  await store.put(ledgerKey, new TextEncoder().encode(JSON.stringify({ ...ledger, since })));
  return marked.doomed;
}

describe("the compile Worker's daily collection", () => {
  const config = new URL("../../wrangler.compile.toml", import.meta.url);
  const harness = createTestHarness({
    workers: [{ configPath: config, secrets: { PORTOLAN_WEBHOOK_SECRET: "s" }, vars: { GC_KEEP: String(keep) } }],
  });
  let store: ObjectStore;

  beforeAll(async () => {
    await harness.listen();
    store = r2Store((await harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>().getEnv()).SNAPSHOTS);
  }, 120_000);
  afterAll(() => harness.close());

  it("deletes at its own line of crons what a run before found unused, and nothing that is needed", async () => {
    const doomed = await leaveGarbage(store);
    const before = await blobsIn(store);
    // The other line compiles, and there is nothing to compile.
    await harness.getWorker().scheduled({ cron: "*/10 * * * *" });
    expect(await blobsIn(store)).toBe(before);
    expect((await harness.getWorker().scheduled({ cron: "17 3 * * *" })).outcome).toBe("ok");
    // The run adds one entry to the history.
    expect(await blobsIn(store)).toBe(before - doomed + 1);
    expect((await readLedger(store))?.ledger).toMatchObject({ finished: true });
    expect((await readLedger(store))?.ledger?.deleted).toHaveLength(doomed);
    expect((await fsck(store, { keepPublications: keep })).problems).toEqual([]);
  }, 120_000);
});

describe("the function that collects garbage on Lambda", () => {
  let server: S3Server;
  let store: ObjectStore;
  let signer: SigningJwk;
  const functions: LambdaEnvironments[] = [];

  beforeAll(async () => {
    server = await startS3();
    store = s3Store({ client: server.client, bucket: server.bucket });
    signer = await makeSigningKey("roots");
    const { garbage } = await lambdaFunctions();
    const env = {
      PORTOLAN_BUCKET: server.bucket,
      PORTOLAN_S3_ENDPOINT: server.endpoint,
      PORTOLAN_GC_KEEP: String(keep),
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: server.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
    };
    functions.push(
      new LambdaEnvironments(garbage, { ...env, PORTOLAN_SIGNING_KEY: JSON.stringify(signer) }),
      new LambdaEnvironments(garbage, { ...env, PORTOLAN_GC_KEEP: "all" }),
    );
  }, 120_000);
  afterAll(async () => {
    await Promise.all(functions.map((one) => one.kill()));
    await server.close();
  });

  it("deletes what a run before found unused, signs the HEAD that it moves on, and says what it did", async () => {
    const doomed = await leaveGarbage(store, signer);
    const before = await blobsIn(store);
    const answer = await functions[0]?.handler({ source: "aws.events", "detail-type": "Scheduled Event" });
    expect(answer).toMatchObject({ kind: "result", result: { done: true, deleted: doomed } });
    expect(await blobsIn(store)).toBe(before - doomed + 1);
    const trusted = [publicPart(signer)];
    expect((await readHead(store, { trusted }))?.head.generation).toBe(6);
    expect((await fsck(store, { keepPublications: keep, trusted })).problems).toEqual([]);
  }, 120_000);

  it("does not start with a setting that it cannot read", async () => {
    await expect(functions[1]?.handler({ source: "aws.events" })).rejects.toThrow(
      "it is a whole number from 1 to 100000",
    );
  }, 60_000);
});
