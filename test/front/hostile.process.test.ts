import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { type RunningServer, serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "./fixtures.ts";

const world = worldOf(
  { web: { clusters: { a: "1" }, routes: { "80": "x".repeat(100_000), "81": "y" } } },
  {
    classifier: {
      attributes: ["namespace", "type"],
      labels: {},
      classes: {},
      defaults: { "sidecar/constructor": "web" },
    },
  },
);

async function published() {
  const errors: unknown[] = [];
  const test = testFront({ onError: (cause) => errors.push(cause) });
  await test.publish(world);
  return { ...test, errors };
}

const nodeIn = (namespace: string, labels: string) =>
  `{"id":"sidecar~10.0.0.9~x.${namespace}~${namespace}.svc.cluster.local","cluster":"x","metadata":{"NAMESPACE":"${namespace}","LABELS":${labels}}}`;

describe("a request that asks for too much", () => {
  it("gets a resource once, however often it names it", async () => {
    const { poll } = await published();
    const ask = async (names: readonly string[]) =>
      (await poll("routes", pollBody("routes", nodeOf("web"), { names }))).text();
    const often = await ask(Array.from({ length: 200_000 }, () => "80"));
    expect(often).toBe(await ask(["80"]));
  });

  it.each([
    ["an id of 1 MB", { node: { ...nodeOf("web"), id: "x".repeat(1_000_000) } }, 400],
    ["a cluster of 1 MB", { node: { ...nodeOf("web"), cluster: "x".repeat(1_000_000) } }, 400],
    ["more names than the body may hold", { node: nodeOf("web"), resource_names: ["x".repeat(2_000_000)] }, 413],
    ["a version of 1 MB", { node: nodeOf("web"), version_info: "x".repeat(1_000_000) }, 400],
  ])("is refused with %s", async (_what, request, status) => {
    const { poll, errors } = await published();
    const response = await poll("clusters", request);
    expect(response.status).toBe(status);
    expect((await response.text()).length).toBeLessThan(1_000);
    expect(errors).toEqual([]);
  });

  it("is not read beyond the limit when it does not say how long it is", async () => {
    const { request } = await published();
    for (const [path, limit] of [
      ["/v3/discovery:clusters", limits.pollBytes],
      ["/v3/delta:clusters", limits.deltaBytes],
    ] as const) {
      let bytes = 0;
      const body = new ReadableStream({
        pull(controller) {
          bytes += 65_536;
          controller.enqueue(new Uint8Array(65_536).fill(0x20));
        },
      });
      const response = await request(path, { method: "POST", body, duplex: "half" });
      expect(response.status).toBe(413);
      expect(bytes).toBeLessThan(limit + 200_000);
    }
  });

  it("is told when to come again if there is no room for its body", async () => {
    const { poll } = testFront({ limits: { ...limits, bodiesBytes: 10 } });
    const response = await poll("clusters", pollBody("clusters", nodeOf("web")));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    // What was not read of the body is not waited for.
    expect(response.headers.get("connection")).toBe("close");
  });

  it("is told to come again while others do not take their long answers", async () => {
    const test = testFront({ limits: { ...limits, answersBytes: 30_000_000 } });
    await test.publish(world);
    const known = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`made-up-${at}`, "1"]));
    const body = JSON.stringify({ node: nodeOf("web"), initial_resource_versions: known });
    const ask = () => test.request("/v3/delta:clusters", { method: "POST", body });
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(8);
    for (const { body } of answers) await body?.cancel();
    const taken = await Promise.all([ask(), ask()]);
    expect(taken.map(({ status }) => status)).toEqual([200, 200]);
    expect(await taken[0]?.json()).toMatchObject({ removed_resources: expect.arrayContaining(["made-up-7"]) });
  });

  it("is not decompressed", async () => {
    const { poll } = await published();
    const body = pollBody("clusters", nodeOf("web"));
    expect((await poll("clusters", body, { "content-encoding": "gzip" })).status).toBe(415);
    expect((await poll("clusters", body, { "content-encoding": "identity" })).status).toBe(200);
  });
});

describe("a name that every object of JavaScript has", () => {
  it.each(["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"])(
    "is a namespace like any other: %s",
    async (namespace) => {
      const { poll, errors } = await published();
      const response = await poll("clusters", `{"node":${nodeIn(namespace, '{"app":"a"}')}}`);
      // A class was compiled for one of them.
      expect(response.status).toBe(namespace === "constructor" ? 200 : 404);
      expect(errors).toEqual([]);
    },
  );

  it("is a name, a label and a known version like any other", async () => {
    const { poll, request, errors } = await published();
    const routes = pollBody("routes", nodeOf("web"), { names: ["constructor", "__proto__"] });
    expect((await poll("routes", routes)).status).toBe(404);
    const body = `{"node":${nodeIn("constructor", '{"__proto__":{"a":1},"constructor":[]}')},"initial_resource_versions":{"__proto__":"1","constructor":"2"}}`;
    const delta = await request("/v3/delta:clusters", { method: "POST", body });
    expect(JSON.parse(await delta.text())).toMatchObject({ removed_resources: ["__proto__", "constructor"] });
    expect(errors).toEqual([]);
  });
});

describe("labels that nest 100,000 levels deep", () => {
  const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;

  it.each([
    ["/v3/discovery:clusters", `{"node":${nodeIn("default", deep)}}`],
    ["/v3/discovery:clusters", `{"node":${nodeIn("default", deep).slice(0, -1)},"extensions":[{}]},"type_url":""}`],
    ["/v3/delta:clusters", `{"node":${nodeIn("default", deep)}}`],
    ["/v3/discovery:clusters", "[".repeat(1_000_000)],
  ])("are the fault of whoever sends them to %s", async (path, body) => {
    const { request, errors } = await published();
    const response = await request(path, { method: "POST", body });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("100 levels");
    expect(errors).toEqual([]);
  });
});

describe("an error", () => {
  const failing = async (cause: unknown) => {
    const memory = memoryStore();
    const { poll } = testFront({ store: { ...memory, get: () => Promise.reject(cause) } });
    const response = await poll("clusters", pollBody("clusters", nodeOf("web")));
    return { status: response.status, text: await response.text() };
  };

  it("is put down to the store only if it is the store's", async () => {
    expect(await failing(new PortolanError("down"))).toMatchObject({
      status: 503,
      text: expect.stringContaining("store"),
    });
    expect(await failing(new TypeError("a mistake"))).toMatchObject({
      status: 500,
      text: expect.stringContaining("own"),
    });
  });
});

describe("a v1 URL", () => {
  it("is answered up to its limit", async () => {
    const { request } = await published();
    expect((await request(`/v1/registration/${"x".repeat(limits.urlBytes)}`)).status).toBe(414);
    expect((await request(`/v1/az/a/b?${"x".repeat(limits.urlBytes)}`)).status).toBe(414);
  });
});

describe("a connection that is slow", () => {
  const quick = { ...limits, headersMs: 300, requestMs: 600, idleMs: 300, connections: 3 };
  const front = createFront({ store: memoryStore(), limits: quick });
  let server: RunningServer;
  beforeAll(async () => {
    server = await serveHttp(frontApp(front), 0, "127.0.0.1", quick);
  });
  afterAll(async () => {
    front.close();
    await server.close();
  });

  /** Sends parts with pauses between them. @returns what came back, and how long the connection lived */
  async function send(parts: readonly string[], pauseMs: number) {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const startMs = performance.now();
    let text = "";
    socket.on("data", (data) => {
      text += data;
    });
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    for (const part of parts) {
      if (socket.destroyed) break;
      socket.write(part);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    await closed;
    return { text, ms: performance.now() - startMs };
  }

  it("is ended when it takes too long over its headers or its body", async () => {
    const start = "POST /v3/discovery:clusters HTTP/1.1\r\nhost: x\r\n";
    const drops = (text: string) => Array.from({ length: 100 }, () => text);
    const headers = await send([start, ...drops("a: b\r\n")], 50);
    expect(headers.text).toContain("408");
    const body = await send([`${start}content-length: 1000\r\n\r\n`, ...drops("x")], 50);
    expect(body.text).toContain("408");
    expect(Math.max(headers.ms, body.ms)).toBeLessThan(4_000);
  });

  it("is ended when it asks for nothing", async () => {
    const { text, ms } = await send(["GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"], 1);
    expect(text).toContain("503");
    expect(ms).toBeLessThan(4_000);
  });

  it("is one of so many that there may be", async () => {
    const { hostname, port } = new URL(server.url);
    const sockets = Array.from({ length: 10 }, () => connect(Number(port), hostname));
    const states = sockets.map(
      (socket) =>
        new Promise<string>((resolve) => {
          socket.on("data", () => resolve("answered"));
          socket.on("close", () => resolve("closed"));
          socket.on("error", () => {});
          socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
        }),
    );
    const ends = await Promise.all(states);
    for (const socket of sockets) socket.destroy();
    expect(ends.filter((end) => end === "answered")).toHaveLength(quick.connections);
  });
});
