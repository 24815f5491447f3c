import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { frontApp } from "../../lib/front/app.ts";
import { readAuthentication } from "../../lib/front/auth/settings.ts";
import { noMetrics } from "../../lib/front/metrics.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { makeSigningKey, publicPart } from "../../lib/snapshot/head/signing-keys.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { nowMs, tokenOf } from "./auth/keys.ts";
import { nodeOf, pollBody, testFront } from "./fixtures.ts";

const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`c${at}`, `ü${"x".repeat(6_000)}`] as const));
const world = worldOf({
  web: { clusters: { a: "1", b: "2" }, routes: { "80": "1" } },
  large: { clusters: many },
});

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

async function serve(options: Parameters<typeof testFront>[0] = {}) {
  const test = testFront(options);
  await test.publish(world);
  const server = await serveHttp(frontApp(test.front), 0, "127.0.0.1", test.front.limits);
  closing.push(() => test.front.close(), server.close);
  return { ...test, server };
}

/** What both ways of a request have to agree on. */
async function said(response: Response) {
  // A server adds the time, a length, and that it keeps a connection.
  const {
    date: _date,
    "keep-alive": _alive,
    "content-length": _length,
    connection,
    ...headers
  } = Object.fromEntries(response.headers);
  return { status: response.status, ends: connection === "close", headers, body: await response.text() };
}

const body = pollBody("clusters", nodeOf("web"));
const unsized = () => ReadableStream.from([Buffer.from(body.slice(0, 20)), Buffer.from(body.slice(20))]);

describe("a call under /v3/, on Node", () => {
  let front: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    front = await serve();
  });

  it.each([
    ["the whole type", "/v3/discovery:clusters", () => ({ body })],
    ["an answer of many segments", "/v3/discovery:clusters", () => ({ body: pollBody("clusters", nodeOf("large")) })],
    ["a path with an encoded colon", "/v3/discovery%3Aclusters", () => ({ body })],
    ["a path that cannot be decoded", "/v3/discovery:clusters%", () => ({ body })],
    ["a type that there is not", "/v3/discovery:runtime", () => ({ body })],
    ["a path below one", "/v3/discovery:clusters/more", () => ({ body })],
    ["a delta", "/v3/delta:clusters", () => ({ body })],
    ["a delta in the poll shape", "/v3/delta:clusters?shape=poll", () => ({ body })],
    ["a secret", "/v3/discovery:secrets", () => ({ body: pollBody("clusters", nodeOf("web"), { names: ["a"] }) })],
    ["a body without a length", "/v3/discovery:clusters", () => ({ body: unsized() })],
    ["a body that is compressed", "/v3/discovery:clusters", () => ({ body, headers: { "content-encoding": "gzip" } })],
    ["a body that is too large", "/v3/discovery:clusters", () => ({ body: "x".repeat(limits.pollBytes + 1) })],
    ["a body that is no JSON", "/v3/discovery:clusters", () => ({ body: "{" })],
    ["no body", "/v3/discovery:clusters", () => ({})],
    ["a node that nobody knows", "/v3/discovery:clusters", () => ({ body: pollBody("clusters", nodeOf("nobody")) })],
  ] as const)("is answered as the app answers it: %s", async (_what, path, init) => {
    const ask = { method: "POST", duplex: "half" } as const;
    const expected = await said(await front.request(path, { ...ask, ...init() }));
    expect(await said(await fetch(front.server.url + path, { ...ask, ...init() }))).toEqual(expected);
    expect(expected.status).not.toBe(500);
  });

  it("is answered as the app answers it while its version is current, and when it does not ask by POST", async () => {
    const url = `${front.server.url}/v3/discovery:clusters`;
    const first: { readonly version_info: string } = JSON.parse(
      await (await fetch(url, { method: "POST", body })).text(),
    );
    const current = { method: "POST", body: pollBody("clusters", nodeOf("web"), { version: first.version_info }) };
    expect((await fetch(url, current)).status).toBe(304);
    const expected = await said(await front.request("/v3/discovery:clusters"));
    expect(await said(await fetch(url))).toEqual(expected);
  });

  it("is for whom the guard lets pass, and tells nobody else anything", async () => {
    const key = await makeSigningKey("tokens");
    const settings = JSON.stringify({ tokens: { keys: [publicPart(key)] } });
    const guarded = await serve({ authentication: readAuthentication(settings, { now: () => nowMs }) });
    const url = `${guarded.server.url}/v3/discovery:clusters`;
    const bare = await fetch(url, { method: "POST", body });
    expect([bare.status, bare.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    const ask = async (namespace: string) => {
      const token = await tokenOf(key, { scope: "node", namespace });
      return (await fetch(url, { method: "POST", body, headers: { authorization: `Bearer ${token}` } })).status;
    };
    expect(await ask("default")).toBe(200);
    expect(await ask("other")).toBe(403);
  });

  it("is let go when whoever asked has gone", async () => {
    let held = 0;
    const count = (difference: number) => {
      held += difference;
    };
    const metrics = { ...noMetrics, held: count };
    const { server } = await serve({ maxHoldMs: 60_000, metrics });
    const { hostname, port } = new URL(server.url);
    const url = `${server.url}/v3/discovery:clusters`;
    const first: { readonly version_info: string } = JSON.parse(
      await (await fetch(url, { method: "POST", body })).text(),
    );
    const poll = pollBody("clusters", nodeOf("web"), { version: first.version_info });
    const head = `POST /v3/discovery:clusters HTTP/1.1\r\nhost: x\r\nx-envoy-expected-rq-timeout-ms: 60000\r\ncontent-length: ${poll.length}\r\n\r\n`;
    const sockets = Array.from({ length: 10 }, () => connect(Number(port), hostname));
    for (const socket of sockets) socket.write(head + poll);
    await expect.poll(() => held).toBe(10);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => held).toBe(0);
  });

  it("listens once for its end, however often it is woken", async () => {
    const { server, publish } = await serve({ maxHoldMs: 60_000 });
    const url = `${server.url}/v3/discovery:clusters`;
    const { version_info: version } = JSON.parse(await (await fetch(url, { method: "POST", body })).text());
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on("warning", warn);
    const headers = { "x-envoy-expected-rq-timeout-ms": "60000" };
    const held = fetch(url, { method: "POST", headers, body: pollBody("clusters", nodeOf("web"), { version }) });
    await sleep(100);
    const same = { clusters: { a: "1", b: "2" } };
    for (let round = 0; round < 15; round += 1) {
      await publish(worldOf({ web: { ...same, routes: { "80": String(round) } } }));
      await sleep(20);
    }
    await publish(worldOf({ web: { clusters: { a: "2" } } }));
    expect((await held).status).toBe(200);
    process.off("warning", warn);
    expect(warnings).toEqual([]);
  });

  it("holds an answer once, however many do not take it", async () => {
    const { server, front } = await serve({ limits: { ...limits, answersBytes: 4_000_000, sharedBytes: 32_000_000 } });
    const { hostname, port } = new URL(server.url);
    const poll = pollBody("clusters", nodeOf("large"));
    const head = `POST /v3/discovery:clusters HTTP/1.1\r\nhost: x\r\ncontent-length: ${poll.length}\r\n\r\n`;
    // More than the kernel takes for them.
    const silent = Array.from({ length: 50 }, () => connect(Number(port), hostname));
    for (const socket of silent) {
      socket.pause();
      socket.write(head + poll);
    }
    await sleep(500);
    // Six megabytes were more than the room, and passed alone: nobody else has any.
    expect(front.answers.tryEnter(1)).toBeUndefined();
    // Who takes his answer gets it in pieces meanwhile.
    const small = await fetch(`${server.url}/v3/discovery:clusters`, { method: "POST", body });
    expect(JSON.parse(await small.text()).resources).toHaveLength(2);
    for (const socket of silent) socket.destroy();
    await expect.poll(() => front.answers.tryEnter(1)).toBeDefined();
  });
});
