import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Queue, R2Bucket } from "@cloudflare/workers-types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestHarness, type TestHarness } from "wrangler";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import {
  eventBridgeEvent,
  r2Event,
  s3Event,
  s3TestEvent,
  scheduledEvent,
  sqsEvent,
} from "../compile/triggers/events.ts";
import { freePort } from "../free-port.ts";
import { lacks } from "../skip.ts";
import { type S3Server, sendsEvents, startS3 } from "../storage/s3-server.ts";
import { lambdaFunctions } from "./lambda-functions.ts";
import { weightedShop } from "./weighted-shop.ts";

/** Fills the source anew, so that there is something to publish. */
async function fill(store: ObjectStore, weight: number): Promise<void> {
  await writeShard(store, "main", await weightedShop(weight));
}

const generation = async (store: ObjectStore) => (await readHead(store))?.head.generation ?? 0;

/** Takes what the S3 server tells of its objects. */
async function takeEvents(): Promise<{ readonly url: string; readonly events: string[]; close(): void }> {
  const events: string[] = [];
  const server: Server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      events.push(body);
      response.end();
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${port}/`, events, close: () => server.close() };
}

describe("the compile function on Lambda", () => {
  let server: S3Server;
  let store: ObjectStore;
  let handler: (event: object) => Promise<unknown>;
  let taken: Awaited<ReturnType<typeof takeEvents>>;

  beforeAll(async () => {
    taken = await takeEvents();
    server = await startS3(taken.url);
    store = s3Store({ client: server.client, bucket: server.bucket });
    Object.assign(process.env, {
      PORTOLAN_BUCKET: server.bucket,
      PORTOLAN_S3_ENDPOINT: server.endpoint,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: server.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
    });
    const { compile } = await lambdaFunctions();
    handler = (await import(pathToFileURL(join(compile, "index.mjs")).href)).handler;
  });
  afterAll(async () => {
    await server.close();
    taken.close();
  });

  it.each([
    ["a schedule", scheduledEvent, 81],
    ["a batch of messages", sqsEvent("{}", ""), 82],
    ["an event of S3's", s3Event("sources/main/list"), 84],
    ["an event of S3's in a message", sqsEvent(JSON.stringify(s3Event("sources/main/list"))), 85],
    ["an event of S3's through EventBridge", eventBridgeEvent("sources/main/list"), 86],
  ])("publishes when %s wakes it", async (_what, event, weight) => {
    await fill(store, weight);
    const before = await generation(store);
    expect(await handler(event)).toMatchObject({ kind: "published" });
    expect(await generation(store)).toBe(before + 1);
    expect(await handler(event)).toMatchObject({ kind: "unchanged" });
  });

  it.each([
    ["S3 asks whether somebody is there", s3TestEvent],
    ["an event is about what a compile has written", s3Event("HEAD", "blobs/ab/cd", "compile/lease")],
  ])("compiles nothing when %s", async (_what, event) => {
    await fill(store, 87);
    const before = await generation(store);
    expect(await handler(event)).toMatchObject({ kind: "ignored" });
    expect(await generation(store)).toBe(before);
  });

  it.skipIf(lacks(sendsEvents, "versitygw, whose S3 server sends events: npm run setup:e2e with Go"))(
    "understands what a real server tells of a source that is filled, and of a compile",
    async () => {
      const since = taken.events.length;
      await fill(store, 88);
      for (let i = 0; i < 100 && !taken.events.slice(since).some((text) => /sources\/main\/list/.test(text)); i += 1)
        await sleep(50);
      const filled = taken.events.slice(since);
      const answers = [];
      for (const text of filled) answers.push(await handler(sqsEvent(text)));
      const kinds = answers.map((answer) =>
        typeof answer === "object" && answer !== null && "kind" in answer ? answer.kind : "",
      );
      expect(new Set(kinds)).toEqual(new Set(["ignored", "published"]));
      expect(kinds.filter((kind) => kind === "published")).toEqual(["published"]);
      await sleep(500);
      // What the compile has written wakes nobody again.
      const written = taken.events.slice(since + filled.length);
      expect(written.some((text) => text.includes("HEAD"))).toBe(true);
      for (const text of written) expect(await handler(sqsEvent(text))).toMatchObject({ kind: "ignored" });
    },
  );

  it("makes at most two compiles of a burst of all kinds of events", async () => {
    await fill(store, 89);
    const before = await generation(store);
    const events = [scheduledEvent, s3Event("sources/main/list"), sqsEvent("a"), eventBridgeEvent("sources/main/list")];
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => handler(events[i % events.length] ?? {})));
    expect(answers).toHaveLength(40);
    for (const answer of answers) expect(answer).toMatchObject({ generation: before + 1 });
    expect(await generation(store)).toBe(before + 1);
    const lease = await store.get("compile/lease");
    expect(lease.kind === "found" && new TextDecoder().decode(lease.bytes)).toContain('"state":"free"');
  });

  it("goes on with the last published version of a source that cannot be read, and says so", async () => {
    const before = await generation(store);
    await store.put("sources/main/list", new TextEncoder().encode("rubbish"));
    const told = await handler({ Records: [] });
    expect(told).toMatchObject({ kind: "published", generation: before + 1 });
    expect(JSON.stringify(told)).toContain("unreadable-source");
    await fill(store, 85);
    expect(await handler({ Records: [] })).toMatchObject({ kind: "published", generation: before + 2 });
  });

  it("fails, with HEAD untouched, when no version of the source can be read, so that the message comes again", async () => {
    const before = await generation(store);
    await store.put("sources/main/list", new TextEncoder().encode("rubbish"));
    for await (const { key } of store.list("sources/main/versions/")) await store.delete(key);
    await expect(handler({ Records: [] })).rejects.toThrow("source main is no list of files");
    expect(await generation(store)).toBe(before);
    await fill(store, 90);
    expect(await handler({ Records: [] })).toMatchObject({ kind: "published", generation: before + 1 });
  });
});

/** A Worker that only sends to the compile function's queue, as R2 does. */
const producer = `name = "producer"
main = "producer.js"
compatibility_date = "2026-10-01"
[[queues.producers]]
queue = "portolan-recompile"
binding = "RECOMPILE"
`;

describe("the compile function in workerd", () => {
  let harness: TestHarness;
  let store: ObjectStore;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "portolan-producer-"));
    await writeFile(join(directory, "wrangler.toml"), producer);
    await writeFile(join(directory, "producer.js"), "export default { fetch: () => new Response() };");
    harness = createTestHarness({
      workers: [
        { configPath: new URL("../../wrangler.compile.toml", import.meta.url) },
        { configPath: join(directory, "wrangler.toml") },
      ],
    });
    await harness.listen();
    const { SNAPSHOTS } = await harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>().getEnv();
    store = r2Store(SNAPSHOTS);
  });
  afterAll(async () => {
    await harness.close();
    await rm(directory, { recursive: true });
  });

  /** Sends what R2 would. @returns HEAD's generation when it has moved, or after a while */
  async function sendEvents(keys: readonly string[]): Promise<number> {
    const { RECOMPILE } = await harness.getWorker<{ readonly RECOMPILE: Queue }>("producer").getEnv();
    const before = await generation(store);
    for (const key of keys) await RECOMPILE.send(r2Event(key));
    for (let i = 0; i < 50 && (await generation(store)) === before; i += 1) await sleep(100);
    return generation(store);
  }

  it("publishes when its clock wakes it", async () => {
    await fill(store, 83);
    const { outcome } = await harness.getWorker().scheduled({ cron: "*/10 * * * *" });
    expect(outcome).toBe("ok");
    expect(await generation(store)).toBe(1);
  });

  it("publishes once when R2 tells it, by its queue, that a source was filled", async () => {
    await fill(store, 91);
    expect(await sendEvents(["sources/main/files/abc", "sources/main/list", "sources/main/list"])).toBe(2);
  });

  it("answers whoever wakes it while it compiles for somebody else", async () => {
    const before = await generation(store);
    await fill(store, 93);
    const woken = Array.from({ length: 16 }, async (_, i) => {
      await sleep(30 * i);
      return harness.getWorker().scheduled({ cron: "*/10 * * * *" });
    });
    expect(new Set((await Promise.all(woken)).map(({ outcome }) => outcome))).toEqual(new Set(["ok"]));
    expect(await generation(store)).toBe(before + 1);
  });

  it("is not woken by what it has written itself", async () => {
    const before = await generation(store);
    await fill(store, 92);
    expect(await sendEvents(["HEAD", "blobs/ab/cd", "compile/lease"])).toBe(before);
  });

  it("refuses everybody while it has no secret", async () => {
    const response = await harness.fetch("/hooks/recompile", { method: "POST" });
    expect(response.status).toBe(401);
  });
});
