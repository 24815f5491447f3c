import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDateClock } from "../../lib/storage/date-clock.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { storeContract } from "./contract.ts";
import { type S3Server, startS3 } from "./s3-server.ts";
import { type SilentProxy, startSilentProxy } from "./silent-proxy.ts";

storeContract("S3", async () => {
  const server = await startS3();
  return { store: s3Store({ client: server.client, bucket: server.bucket }), close: server.close };
});

storeContract("S3 below a prefix", async () => {
  const server = await startS3();
  return { store: s3Store({ client: server.client, bucket: server.bucket, prefix: "meshes/a/" }), close: server.close };
});

describe("s3Store", () => {
  it("fails with the bucket's name when the server is down or the bucket is not there", async () => {
    const client = new S3Client({
      endpoint: "http://127.0.0.1:1",
      region: "us-east-1",
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
    });
    await expect(s3Store({ client, bucket: "nowhere" }).get("HEAD")).rejects.toThrow("S3 bucket nowhere");
    const server = await startS3();
    await expect(s3Store({ client: server.client, bucket: "other" }).get("HEAD")).rejects.toThrow("S3 bucket other");
    await server.close();
  });
});

const text = (value: string) => new TextEncoder().encode(value);

describe("a bucket behind a network that falls silent", () => {
  let server: S3Server;
  let proxy: SilentProxy;
  let client: S3Client;
  beforeAll(async () => {
    server = await startS3();
    proxy = await startSilentProxy(server.endpoint);
    const { accessKeyId, secretAccessKey } = server;
    const credentials = { accessKeyId, secretAccessKey };
    client = new S3Client({ endpoint: proxy.endpoint, region: "us-east-1", forcePathStyle: true, credentials });
  });
  afterAll(async () => {
    client.destroy();
    await proxy.close();
    await server.close();
  });

  it("is read again within 5 s of its recovery, however many requests were hanging", async () => {
    const store = s3Store({ client, bucket: server.bucket });
    await store.put("a", text("a"));
    // Connections that are kept and will be dead.
    await Promise.all(Array.from({ length: 50 }, () => store.get("a")));
    proxy.silence();
    const hanging = Array.from({ length: 100 }, () => store.get("a").catch(() => undefined));
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    proxy.recover();
    const startMs = performance.now();
    expect((await store.get("a")).kind).toBe("found");
    expect(performance.now() - startMs).toBeLessThan(5_000);
    await Promise.all(hanging);
  }, 40_000);

  it("says that there was no answer, and takes no more connections than it may", async () => {
    const store = s3Store({ client, bucket: server.bucket });
    proxy.silence();
    const startMs = performance.now();
    const asked = Array.from({ length: 200 }, () => store.get("a"));
    const results = await Promise.allSettled(asked);
    expect(results.every(({ status }) => status === "rejected")).toBe(true);
    expect(String(results.map((result) => "reason" in result && result.reason.message)[0])).toContain("no answer");
    // All hang at the same time: one after the other would take a request's 12 s at least twice.
    expect(performance.now() - startMs).toBeLessThan(24_000);
    expect(proxy.open()).toBeLessThan(220);
    proxy.recover();
  }, 40_000);

  it("tells its clock to two seconds", async () => {
    const store = s3Store({ client, bucket: server.bucket });
    await store.get("a");
    expect(Math.abs(((await store.time?.()) ?? 0) - Date.now())).toBeLessThan(2_000);
    const found = await store.get("a");
    expect(found.kind === "found" && Math.abs((found.modifiedMs ?? 0) - Date.now()) < 60_000).toBe(true);
  });
});

describe("a bucket in which every conditional write meets another", () => {
  it.each([
    ["is there", 200, { kind: "lost" }],
    ["is not there", 404, undefined],
  ])("says what it knows when the object %s afterwards", async (_what, status, want) => {
    const server = createServer((request, response) => {
      response.writeHead(request.method === "PUT" ? 409 : status, { etag: '"x"' });
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    const { port } = server.address() as AddressInfo;
    const credentials = { accessKeyId: "a", secretAccessKey: "b" };
    const endpoint = `http://127.0.0.1:${port}`;
    const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials, maxAttempts: 1 });
    const put = s3Store({ client, bucket: "b" }).put("a", text("a"), { ifNoneMatch: "*" });
    if (want === undefined) await expect(put).rejects.toThrow("did not come through");
    else expect(await put).toEqual(want);
    client.destroy();
    server.close();
    server.closeAllConnections();
  });
});

describe("createDateClock", () => {
  it("comes nearer with every answer, and starts anew when the clocks have drifted apart", () => {
    let here = 0;
    const clock = createDateClock(() => here);
    expect(clock.now()).toBeUndefined();
    const answer = (there: number, tookMs: number) => {
      const asked = here;
      here += tookMs;
      clock.seen(new Date(there).toUTCString(), asked);
    };
    answer(Date.UTC(2026, 0, 1, 0, 0, 10, 900), 100);
    answer(Date.UTC(2026, 0, 1, 0, 0, 11, 0), 100);
    expect(Math.abs((clock.now() ?? 0) - Date.UTC(2026, 0, 1, 0, 0, 11, 50))).toBeLessThan(110);
    answer(Date.UTC(2026, 0, 2), 100);
    expect(Math.abs((clock.now() ?? 0) - Date.UTC(2026, 0, 2))).toBeLessThan(1_100);
  });
});
