import { connect } from "node:net";
import { Hono } from "hono/tiny";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, serveHttp } from "../../lib/front/node-server.ts";
import { createBodyPool } from "../../lib/limits/body-pool.ts";
import { bytesOf, readBody, readChunks } from "../../lib/limits/read-body.ts";
import { collectAll } from "../collect-garbage.ts";

const pool = () => createBodyPool({ bodiesBytes: 1_000 });

/** A body in chunks of so many bytes; counts what was taken of it. */
function chunked(sizes: readonly number[]) {
  let given = 0;
  async function* chunks() {
    for (const size of sizes) {
      given += size;
      yield new Uint8Array(size).fill(given % 256);
    }
  }
  return { chunks: chunks(), given: () => given };
}

/** A body of a part, a pause, and one byte or what else is left. It keeps none of it, as a generator would. */
function paused(bytes: number, rest = 1) {
  let goOn = () => {};
  const pause = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const parts = [
    async () => ({ done: false, value: new Uint8Array(bytes) }),
    () => pause.then(() => ({ done: false, value: new Uint8Array(rest) })),
  ];
  const end = { done: true, value: undefined } as const;
  const iterator = { next: async () => parts.shift()?.() ?? end, return: async () => end };
  const chunks: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => iterator };
  return { chunks, goOn: () => goOn() };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("readChunks", () => {
  it("puts chunks together, whatever was said of their length", async () => {
    for (const length of [Number.NaN, 0, 5, 6, 60, -1]) {
      const { chunks } = chunked([1, 2, 3]);
      const read = await readChunks(chunks, length, { maxBytes: 60, pool: pool() });
      expect(read.kind === "read" && [...bytesOf(read)]).toEqual([1, 3, 3, 6, 6, 6]);
    }
  });

  it("takes a body of exactly the limit and stops within the first chunk beyond it", async () => {
    expect((await readChunks(chunked([30, 30]).chunks, Number.NaN, { maxBytes: 60, pool: pool() })).kind).toBe("read");
    const { chunks, given } = chunked(Array.from({ length: 1_000 }, () => 10));
    const read = await readChunks(chunks, Number.NaN, { maxBytes: 60, pool: pool() });
    expect(read).toMatchObject({ kind: "refused", status: 413 });
    expect(given()).toBe(70);
  });

  it("reads nothing of a body that says it is too long", async () => {
    const { chunks, given } = chunked([10]);
    expect(await readChunks(chunks, 61, { maxBytes: 60, pool: pool() })).toMatchObject({ status: 413 });
    expect(given()).toBe(0);
  });

  it("takes no memory for a body that was announced and never came", async () => {
    const announced = 100_000;
    const bodies = 500;
    const goOn: (() => void)[] = [];
    async function* late() {
      yield new Uint8Array(1);
      await new Promise<void>((resolve) => goOn.push(resolve));
    }
    const pool = createBodyPool({ bodiesBytes: bodies });
    const before = process.memoryUsage().arrayBuffers;
    const reads = Array.from({ length: bodies }, () => readChunks(late(), announced, { maxBytes: announced, pool }));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(goOn.length).toBe(bodies);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan((announced * bodies) / 100);
    for (const go of goOn) go();
    await Promise.all(reads);
  });

  it("gives the room of the body that has been coming longest to those that come later", async () => {
    const limits = { maxBytes: 1_000, pool: pool() };
    const slow = paused(600);
    const second = paused(300);
    const reads = [readChunks(slow.chunks, Number.NaN, limits), readChunks(second.chunks, Number.NaN, limits)];
    await settled();
    expect((await readChunks(chunked([600]).chunks, Number.NaN, limits)).kind).toBe("read");
    slow.goOn();
    second.goOn();
    const [first, other] = await Promise.all(reads);
    expect(first).toMatchObject({ kind: "refused", status: 503 });
    expect(other).toMatchObject({ kind: "read" });
    expect((await readChunks(chunked([1_000]).chunks, Number.NaN, limits)).kind).toBe("read");
  });

  it("takes no room from bodies that came later", async () => {
    const limits = { maxBytes: 1_000, pool: pool() };
    const slow = paused(100, 600);
    const first = readChunks(slow.chunks, Number.NaN, limits);
    await settled();
    const later = paused(600);
    const second = readChunks(later.chunks, Number.NaN, limits);
    await settled();
    slow.goOn();
    expect(await first).toMatchObject({ status: 503 });
    later.goOn();
    expect((await second).kind).toBe("read");
  });

  it("holds no more than its room, however many send a part and then nothing", async () => {
    const partBytes = 128 * 1024;
    const bodiesBytes = 32 * partBytes;
    const shared = createBodyPool({ bodiesBytes });
    const before = process.memoryUsage().arrayBuffers;
    const bodies = Array.from({ length: 1_000 }, () => paused(partBytes));
    const reads = bodies.map(({ chunks }) => readChunks(chunks, 1_000_000, { maxBytes: 1_000_000, pool: shared }));
    const held = async () => {
      await settled();
      collectAll();
      return process.memoryUsage().arrayBuffers - before;
    };
    // Buffers are given back some time after their collection.
    await expect.poll(held, { timeout: 10_000 }).toBeLessThan(2 * bodiesBytes);
    // One who comes now, and sends all of it, is read.
    const normal = await readChunks(chunked([70_000]).chunks, Number.NaN, { maxBytes: 1_000_000, pool: shared });
    expect(normal.kind).toBe("read");
    for (const { goOn } of bodies) goOn();
    const kinds = (await Promise.all(reads)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "read").length).toBeLessThanOrEqual(32);
  });

  it("says of a body that breaks off that it does, and gives back what it took", async () => {
    const shared = pool();
    async function* broken() {
      yield new Uint8Array(1_000);
      throw new Error("reset");
    }
    for (let i = 0; i < 5; i += 1) {
      const read = await readChunks(broken(), Number.NaN, { maxBytes: 2_000, pool: shared });
      expect(read).toMatchObject({ kind: "refused", status: 400 });
    }
  });
});

describe("readBody, behind a Node server", () => {
  let server: RunningServer;
  beforeAll(async () => {
    const shared = createBodyPool({ bodiesBytes: 1024 * 1024 });
    const app = new Hono();
    app.post("/", async (c) => {
      const read = await readBody(c, { maxBytes: 100_000, pool: shared });
      return read.kind === "read" ? c.text(String(bytesOf(read).length)) : c.text(read.reason, read.status);
    });
    server = await serveHttp(app, 0);
  });
  afterAll(() => server.close());

  it("reads a body with a length and one in chunks", async () => {
    const body = new Uint8Array(90_000);
    expect(await (await fetch(server.url, { method: "POST", body })).text()).toBe("90000");
    const stream = ReadableStream.from([body.subarray(0, 10), body.subarray(10)]);
    const response = await fetch(server.url, { method: "POST", body: stream, duplex: "half" });
    expect(await response.text()).toBe("90000");
  });

  it("answers that a body is too large while it is still being sent", async () => {
    const { hostname, port } = new URL(server.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let text = "";
      socket.on("data", (data) => {
        text += data;
      });
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
      socket.write(`POST / HTTP/1.1\r\nhost: ${hostname}\r\ntransfer-encoding: chunked\r\n\r\n`);
      // The body has no end.
      for (let i = 0; i < 20; i += 1) socket.write(`2710\r\n${"x".repeat(10_000)}\r\n`);
    });
    expect(answer).toContain("413");
    expect(answer).toContain("the body is over 100000 bytes");
  });

  it("does not look into a compressed body", async () => {
    const headers = { "content-encoding": "gzip" };
    const response = await fetch(server.url, { method: "POST", headers, body: new Uint8Array(10) });
    expect(response.status).toBe(415);
  });
});
