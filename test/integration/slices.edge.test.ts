import { setTimeout as sleep } from "node:timers/promises";
import type { R2Bucket } from "@cloudflare/workers-types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestHarness, type TestHarness } from "wrangler";
import { listIn } from "../../lib/base/untyped.ts";
import { ownBuild } from "../../lib/cli/own-build.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { fileKey } from "../../lib/compile/shards/source-shard.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { slicesPrefix } from "../../lib/compile/slices/records.ts";
import { sha256 } from "../../lib/config/canonical-json.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { allOf } from "../all-of.ts";
import { syntheticMesh } from "../bench/synthetic-mesh.ts";
import { scheduledEvent } from "../compile/triggers/events.ts";
import { type S3Server, startS3 } from "../storage/s3-server.ts";
import { type SqsQueue, startSqs } from "../storage/sqs-server.ts";
import { LambdaEnvironments } from "./lambda-environments.ts";
import { lambdaFunctions } from "./lambda-functions.ts";

const documentsOf = (services: number) => syntheticMesh(services).text.split("\n---\n");
/** Of some 1.5 MiB, enough for two slices; in files, of which none may have as much. */
const usual = documentsOf(250);
/** Of some 2.5 MiB: a Worker holds 2 as a whole. */
const large = documentsOf(400);
const filesOf = (weight: number, documents = usual) =>
  [0, 1, 2, 3].map((at) => {
    const own = documents.filter((_, i) => i % 4 === at).join("\n---\n");
    return { file: `${at}.yaml`, text: `${own.replace('"timeout":"', `"timeout":"${weight}`)}\n` };
  });

/** What a compile as a whole comes to, with the settings that functions have. */
async function whole(files: ReturnType<typeof filesOf>, build?: string) {
  const store = memoryStore();
  await writeShard(store, "main", files);
  return { store, root: (await createRecompiler({ store, sources: ["main"], build })()).version };
}

const rootOf = async (store: ObjectStore) => (await readHead(store))?.head.steps.at(-1)?.root;
/** All that a root names, but for its note of which build has made it. */
async function contentOf(store: ObjectStore, root = "") {
  const { standing: _ofItsBuild, ...content } = (await createSnapshotReader(store).root(root)).root;
  return content;
}
const recordsIn = async (store: ObjectStore) => (await allOf(store.list(slicesPrefix))).map(({ key }) => key);

describe("slices over SQS", () => {
  let server: S3Server;
  let queue: SqsQueue;
  let store: ObjectStore;
  let compiles: LambdaEnvironments;
  let slices: LambdaEnvironments;

  beforeAll(async () => {
    server = await startS3();
    queue = await startSqs(3);
    store = s3Store({ client: server.client, bucket: server.bucket });
    const env = {
      PORTOLAN_BUCKET: server.bucket,
      PORTOLAN_S3_ENDPOINT: server.endpoint,
      PORTOLAN_SQS_ENDPOINT: queue.endpoint,
      PORTOLAN_SLICE_QUEUE_URL: queue.url,
      PORTOLAN_COMPILE_SLICES: "4",
      // Longer than a machine with other work takes for them.
      PORTOLAN_COMPILE_SECONDS: "240",
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: server.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
    };
    const built = await lambdaFunctions();
    compiles = new LambdaEnvironments(built.compile, env);
    slices = new LambdaEnvironments(built.slice, env);
  }, 120_000);
  afterAll(async () => {
    await compiles.kill();
    await slices.kill();
    await server.close();
    await queue.close();
  });

  const resultOf = async (answer: ReturnType<LambdaEnvironments["handler"]>): Promise<unknown> => {
    const told = await answer;
    return told.kind === "result" ? told.result : undefined;
  };
  const compile = (event: object) => resultOf(compiles.handler(event));
  const slice = (event: object) => resultOf(slices.handler(event));

  /** Does what Lambda's event source does: hands messages on, and deletes those that did not fail. */
  async function pump(until: Promise<unknown>, beforeEach = async () => {}): Promise<number> {
    let failures = 0;
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    until.then(over, over);
    while (!isOver) {
      const message = await queue.receive();
      if (message === undefined) {
        await sleep(50);
        continue;
      }
      await beforeEach();
      const answer = await slice({ Records: [{ ...message, eventSource: "aws:sqs" }] });
      if (listIn(answer, "batchItemFailures").length === 0) await queue.delete(message.receiptHandle);
      else failures += 1;
    }
    return failures;
  }

  it("lead to the root that a compile as a whole does", async () => {
    await writeShard(store, "main", filesOf(1));
    const compiled = compile(scheduledEvent);
    expect(await pump(compiled)).toBe(0);
    expect(await compiled).toMatchObject({
      kind: "published",
      version: (await whole(filesOf(1), await ownBuild())).root,
    });
    expect((await recordsIn(store)).length).toBeGreaterThan(1);
  }, 300_000);

  it("come again when they fail, end among the dead letters, and fail the compile with their reason; the next trigger mends it", async () => {
    const files = filesOf(2);
    await writeShard(store, "main", files);
    const before = await rootOf(store);
    const key = fileKey("main", sha256(files[0]?.text ?? ""));
    const failing = compile(scheduledEvent);
    failing.catch(() => {});
    // Lost once the plan is made: before, the source's last published version would be compiled in its place.
    expect(await pump(failing, () => store.delete(key))).toBeGreaterThan(2);
    await expect(failing).rejects.toThrow("source main lacks the content of 0.yaml; fill it again");
    expect(await rootOf(store)).toBe(before);
    await writeShard(store, "main", filesOf(3));
    const mended = compile(scheduledEvent);
    await pump(mended);
    expect(await mended).toMatchObject({
      kind: "published",
      version: (await whole(filesOf(3), await ownBuild())).root,
    });
    expect(await queue.dead()).toBeGreaterThan(0);
  }, 300_000);

  it("that are none are passed over", async () => {
    expect(await slice({ Records: [{ messageId: "1", body: "rubbish" }] })).toEqual({ batchItemFailures: [] });
  });
});

describe("a mesh that a Worker holds no whole of, in workerd", () => {
  let harness: TestHarness;
  let store: ObjectStore;

  beforeAll(async () => {
    harness = createTestHarness({ workers: [{ configPath: new URL("../../wrangler.compile.toml", import.meta.url) }] });
    await harness.listen();
    const { SNAPSHOTS } = await harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>().getEnv();
    store = r2Store(SNAPSHOTS);
  }, 120_000);
  afterAll(async () => {
    await harness.close();
  });

  const wake = () => harness.getWorker().scheduled({ cron: "*/10 * * * *" });

  it("comes to the root that a compile as a whole does, and so does a change of it", async () => {
    for (const weight of [1, 2]) {
      const files = filesOf(weight, large);
      await writeShard(store, "main", files);
      expect((await wake()).outcome).toBe("ok");
      const alone = await whole(files, "any");
      expect(await contentOf(store, await rootOf(store))).toEqual(await contentOf(alone.store, alone.root));
    }
  }, 240_000);
});
