import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { R2Bucket } from "@cloudflare/workers-types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestHarness, type TestHarness } from "wrangler";
import { buildFunctions } from "../../infra/build.mjs";
import { writeShard } from "../../lib/compile/source-shard.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { type S3Server, startS3 } from "../storage/s3-server.ts";
import { weightedShop } from "./weighted-shop.ts";

/** Fills the source anew, so that there is something to publish. */
async function fill(store: ObjectStore, weight: number): Promise<void> {
  await writeShard(store, "main", await weightedShop(weight));
}

const generation = async (store: ObjectStore) => (await readHead(store))?.head.generation ?? 0;

describe("the compile function on Lambda", () => {
  let server: S3Server;
  let store: ObjectStore;
  let directory: string;
  let handler: (event: object) => Promise<unknown>;

  beforeAll(async () => {
    server = await startS3();
    store = s3Store({ client: server.client, bucket: server.bucket });
    directory = await mkdtemp(join(tmpdir(), "portolan-lambda-"));
    Object.assign(process.env, {
      PORTOLAN_BUCKET: server.bucket,
      PORTOLAN_S3_ENDPOINT: server.endpoint,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: server.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
    });
    const { compile } = await buildFunctions(directory);
    handler = (await import(pathToFileURL(join(compile, "index.mjs")).href)).handler;
  });
  afterAll(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });

  it.each([
    [
      "a schedule",
      { version: "0", "detail-type": "Scheduled Event", source: "aws.events", resources: [], detail: {} },
      81,
    ],
    [
      "a batch of messages",
      {
        Records: [
          { messageId: "1", body: "{}", eventSource: "aws:sqs" },
          { messageId: "2", body: "" },
        ],
      },
      82,
    ],
  ])("publishes when %s wakes it", async (_what, event, weight) => {
    await fill(store, weight);
    const before = await generation(store);
    expect(await handler(event)).toMatchObject({ kind: "published" });
    expect(await generation(store)).toBe(before + 1);
    expect(await handler(event)).toMatchObject({ kind: "unchanged" });
  });

  it("fails, with HEAD untouched, when the source is no configuration, so that the message comes again", async () => {
    const before = await generation(store);
    await store.put("sources/main/list", new TextEncoder().encode("rubbish"));
    await expect(handler({ Records: [] })).rejects.toThrow("source main is no list of files");
    expect(await generation(store)).toBe(before);
  });
});

describe("the compile function in workerd", () => {
  let harness: TestHarness;
  let store: ObjectStore;

  beforeAll(async () => {
    harness = createTestHarness({ workers: [{ configPath: new URL("../../wrangler.compile.toml", import.meta.url) }] });
    await harness.listen();
    const { SNAPSHOTS } = await harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>().getEnv();
    store = r2Store(SNAPSHOTS);
  });
  afterAll(() => harness.close());

  it("publishes when its clock wakes it", async () => {
    await fill(store, 83);
    const { outcome } = await harness.getWorker().scheduled({ cron: "*/10 * * * *" });
    expect(outcome).toBe("ok");
    expect(await generation(store)).toBe(1);
  });

  it("refuses everybody while it has no secret", async () => {
    const response = await harness.fetch("/hooks/recompile", { method: "POST" });
    expect(response.status).toBe(401);
  });
});
