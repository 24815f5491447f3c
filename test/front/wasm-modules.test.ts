import { describe, expect, it } from "vitest";
import { blobKey, hashOf } from "../../lib/base/blob.ts";
import { authenticateBy, identified } from "../../lib/front/auth/authentication.ts";
import { limits } from "../../lib/limits/limits.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { teapotModule } from "../e2e/wasm-module.ts";
import { testFront } from "./fixtures.ts";

const code = new Uint8Array([...teapotModule(), ...new Uint8Array(200_000)]);
const sha256 = hashOf(code);
const path = `/v3/wasm/${sha256}`;

async function frontWith(options: Parameters<typeof testFront>[0] = {}) {
  const front = testFront(options);
  await front.store.put(blobKey(sha256), code);
  return front;
}

describe("GET /v3/wasm/:digest", () => {
  it("gives a module for good, whole or in a part", async () => {
    const { request } = await frontWith();
    const whole = await request(path);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      "content-type": "application/wasm",
      "content-length": String(code.length),
      "cache-control": "private, max-age=31536000, immutable",
      etag: `"${sha256}"`,
    });
    expect(hashOf(new Uint8Array(await whole.arrayBuffer()))).toBe(sha256);
    expect((await request(path, { headers: { "if-none-match": `"${sha256}"` } })).status).toBe(304);
    const { length } = code;
    const part = async (range: string, more: Readonly<Record<string, string>> = {}) => {
      const response = await request(path, { headers: { range, ...more } });
      return [response.status, response.headers.get("content-range"), (await response.arrayBuffer()).byteLength];
    };
    expect(await part("bytes=0-3")).toEqual([206, `bytes 0-3/${length}`, 4]);
    expect(await part("bytes=8-")).toEqual([206, `bytes 8-${length - 1}/${length}`, length - 8]);
    expect(await part("bytes=-5")).toEqual([206, `bytes ${length - 5}-${length - 1}/${length}`, 5]);
    expect((await part(`bytes=${length}-`)).slice(0, 2)).toEqual([416, `bytes */${length}`]);
    for (const other of ["bytes=3-1", "bytes=0-1,4-5", "lines=1-2"]) expect((await part(other))[0]).toBe(200);
    expect((await part("bytes=0-3", { "if-range": '"other"' }))[0]).toBe(200);
  });

  it("gives no other blob, and nothing that is not there", async () => {
    const { request, store } = await frontWith();
    const other = new TextEncoder().encode("kind: Secret");
    await store.put(blobKey(hashOf(other)), other);
    for (const name of [hashOf(other), "0".repeat(64), "..%2FHEAD", sha256.toUpperCase()])
      expect((await request(`/v3/wasm/${name}`)).status).toBe(404);
  });

  it("reads it once, however many ask at a time", async () => {
    const store = memoryStore();
    let reads = 0;
    const counted: typeof store = {
      ...store,
      get: (key, condition) => {
        if (key === blobKey(sha256)) reads += 1;
        return store.get(key, condition);
      },
    };
    const { request } = await frontWith({ store: counted });
    const answers = await Promise.all(Array.from({ length: 20 }, () => request(path)));
    const hashes = await Promise.all(answers.map(async (one) => hashOf(new Uint8Array(await one.arrayBuffer()))));
    expect([reads, new Set(hashes)]).toEqual([1, new Set([sha256])]);
  });

  it("lies in memory once for all who read it, within the room of answers, and for nobody who has gone", async () => {
    const { request, store } = await frontWith({ limits: { ...limits, answersBytes: code.length } });
    const large = new Uint8Array([...teapotModule(), ...new Uint8Array(300_000)]);
    await store.put(blobKey(hashOf(large)), large);
    const other = `/v3/wasm/${hashOf(large)}`;
    const [slow, slower] = [await request(path), await request(path)];
    expect([slow.status, slower.status, (await request(other)).status]).toEqual([200, 200, 503]);
    await slow.arrayBuffer();
    expect((await request(other)).status).toBe(503);
    await slower.body?.cancel();
    for (const method of ["HEAD", "HEAD", "GET"]) {
      const { status, body } = await request(other, { method });
      expect(status).toBe(200);
      await body?.cancel();
    }
    for (const headers of [{ "if-none-match": `"${hashOf(large)}"` }, { range: "bytes=999999-" }])
      await request(other, { headers });
    expect((await request(path)).status).toBe(200);
  });

  it("is for nodes that prove who they are", async () => {
    const refusing = authenticateBy("test", [async () => ({ kind: "refused", status: 401, reason: "no token" })]);
    expect((await (await frontWith({ authentication: refusing })).request(path)).status).toBe(401);
    const node = { kind: "node", subject: "web", namespace: "default" } as const;
    const letting = authenticateBy("test", [async () => identified(node)]);
    expect((await (await frontWith({ authentication: letting })).request(path)).status).toBe(200);
  });
});
