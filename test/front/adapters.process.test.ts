import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wholeHandler } from "../../functions/function-url.ts";
import { frontHandler } from "../../functions/worker-front.ts";
import { type FrontApp, frontApp } from "../../lib/front/app.ts";
import { readAuthentication } from "../../lib/front/auth/settings.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { mountConnect } from "../../lib/front/connect/mount.ts";
import { binarySecrets } from "../../lib/front/connect/secret-call.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { rootAt } from "../../lib/snapshot/head/head.ts";
import { makeSigningKey, publicPart } from "../../lib/snapshot/head/signing-keys.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { nowMs, tokenOf } from "./auth/keys.ts";
import { nodeOf, pollBody, type TestFront, testFront } from "./fixtures.ts";

interface Sent {
  readonly method: string;
  readonly path: string;
  /** A list is one header, several times. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | undefined;
}

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One way for a request to come in. */
type Adapter = (sent: Sent) => Promise<Got>;

/** What a server adds by itself: the time, a length, and whether it keeps a connection. */
const ofServers = new Set(["date", "keep-alive", "connection", "content-length", "transfer-encoding"]);

const got = (status: number, headers: Iterable<readonly [string, string]>, body: string): Got => ({
  status,
  headers: Object.fromEntries([...headers].filter(([name]) => !ofServers.has(name)).sort()),
  body,
});

const webRequest = ({ method, path, headers, body }: Sent): Request => {
  const given = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const));
  const web = new Headers();
  for (const [name, value] of given) web.append(name, value);
  return new Request(`http://localhost${path}`, { method, headers: web, ...(body === undefined ? {} : { body }) });
};

const gotFrom = async (response: Response): Promise<Got> =>
  got(response.status, response.headers, await response.text());

const byFetch =
  (app: FrontApp): Adapter =>
  async (sent) =>
    gotFrom(await app.fetch(webRequest(sent)));

const byWorker = (app: FrontApp): Adapter => {
  const worker = frontHandler(() => app);
  return async (sent) => gotFrom(await worker.fetch(webRequest(sent), Object.create(null), { waitUntil() {} }));
};

/** By the handler behind API Gateway, with an event as it makes one: several headers of one name are one, between commas. */
const byLambda = (app: FrontApp): Adapter => {
  const handler = wholeHandler(app);
  return async ({ method, path, headers, body }) => {
    const { pathname, search } = new URL(`http://localhost${path}`);
    const answer = await handler({
      rawPath: pathname,
      rawQueryString: search.slice(1),
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")])),
      requestContext: { domainName: "localhost", http: { method } },
      ...(body === undefined ? {} : { body, isBase64Encoded: false }),
    });
    return got(answer.statusCode, Object.entries(answer.headers), Buffer.from(answer.body, "base64").toString());
  };
};

const byNode =
  (url: string): Adapter =>
  async ({ method, path, headers, body }) => {
    const { hostname, port } = new URL(url);
    const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]));
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const request = httpRequest({ hostname, port, method, path, headers: { ...plain, ...length }, agent: false });
    request.on("error", () => {});
    request.end(body);
    const [response] = await once(request, "response");
    const answered = Object.entries<string>(response.headers);
    return got(response.statusCode, answered, await text(response));
  };

const byHttp2 =
  (url: string): Adapter =>
  async ({ method, path, headers, body }) => {
    const session = connectHttp2(url);
    const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]));
    const stream = session.request({ ...plain, ":method": method, ":path": path });
    stream.end(body);
    const [answered] = await once(stream, "response");
    const { ":status": status, ...others } = answered;
    const read = await text(stream);
    session.close();
    return got(status, Object.entries<string>(others), read);
  };

let adapters: Readonly<Record<"worker" | "lambda" | "node", Adapter>>;
let reference: Adapter;
let http2: Adapter;
let tokens: Readonly<Record<"node" | "other" | "operator" | "v1", string>>;
let root: string;
let hanging: string;
const closing: (() => unknown)[] = [];

const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`c${at}`, "x".repeat(1_000)] as const));

beforeAll(async () => {
  const key = await makeSigningKey("tokens");
  const settings = JSON.stringify({ tokens: { keys: [publicPart(key)] } });
  const test = testFront({ authentication: readAuthentication(settings, { now: () => nowMs }) });
  const world = worldOf({ web: { clusters: { a: "1", b: "2" }, routes: { "80": "1" } }, large: { clusters: many } });
  await test.publish(world);
  root = await rootOf(test);
  const app = frontApp(test.front, async () => [
    { path: "/", type: "text/html", isFixed: false, text: "<p>" },
    { path: "/console/a.js", type: "text/javascript", isFixed: true, text: "1" },
  ]);
  mountConnect(app, test.front, binarySecrets);
  const server = await serveHttp(app, 0, "127.0.0.1", test.front.limits);
  const streams = await serveGrpc(test.front, 0);
  hanging = server.url;
  closing.push(() => test.front.close(), server.close, streams.close);
  reference = byFetch(app);
  adapters = { worker: byWorker(app), lambda: byLambda(app), node: byNode(server.url) };
  http2 = byHttp2(streams.url);
  const [node, other, operator, v1] = await Promise.all([
    tokenOf(key, { scope: "node", namespace: "default" }),
    tokenOf(key, { scope: "node", namespace: "other" }),
    tokenOf(key, { scope: "operator" }),
    tokenOf(key, { scope: "v1" }),
  ]);
  tokens = { node, other, operator, v1 };
});

/** Hash of the root in force. */
async function rootOf({ front }: TestFront): Promise<string> {
  const head = await front.heads.current();
  return head === undefined ? "" : rootAt(head, front.heads.timeMs());
}

afterAll(async () => {
  for (const close of closing) await close();
});

type Who = keyof typeof tokens | "nobody" | "forged";

/** A request of the table: who asks, for what, with what, and the status that all have to give. */
type Case = readonly [Who, string, number, { readonly headers?: Sent["headers"]; readonly body?: string }?];

const poll = pollBody("clusters", nodeOf("web"));
const json = { "content-type": "application/json" };
const fetchPath = "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters";
const deltaPath = "/portolan.v1.SnapshotService/DeltaFetch";
const deltaBody = JSON.stringify({
  node: nodeOf("web"),
  type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
});

function sentBy(who: Who, [method = "", path = ""]: readonly string[], more: Case[3]): Sent {
  const token = who === "forged" ? "a.b.c" : who === "nobody" ? undefined : tokens[who];
  const headers = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...more?.headers };
  return { method, path: path.replace("{root}", root), headers, body: more?.body };
}

const ofNodes: readonly Case[] = [
  ["node", "POST /v3/discovery:clusters", 200, { body: poll }],
  [
    "node",
    "POST /v3/discovery:clusters",
    404,
    { body: pollBody("clusters", nodeOf("large")).replace("large", "none") },
  ],
  ["node", "POST /v3/discovery:clusters", 200, { body: pollBody("clusters", nodeOf("large")) }],
  ["node", "POST /v3/discovery%3Aclusters", 200, { body: poll }],
  ["node", "POST /v3/%64iscovery:clusters?a=b", 200, { body: poll }],
  ["node", "POST /v3/../v3/./discovery:clusters", 200, { body: poll }],
  ["node", "POST /v3/discovery:clusters%", 404, { body: poll }],
  ["node", "POST /v3%2Fdiscovery:clusters", 403, { body: poll }],
  ["node", "POST //v3/discovery:clusters", 403, { body: poll }],
  ["node", "POST /v3/discovery:runtime", 404, { body: poll }],
  ["node", "POST /v3/discovery:clusters/more", 404, { body: poll }],
  ["node", "POST /v3/discovery:clusters", 400, { body: "{" }],
  ["node", "POST /v3/discovery:clusters", 400],
  ["node", "POST /v3/discovery:clusters", 413, { body: "x".repeat(limits.pollBytes + 1) }],
  ["node", "POST /v3/discovery:clusters", 415, { body: poll, headers: { "content-encoding": "gzip" } }],
  ["node", "POST /v3/discovery:routes", 400, { body: poll }],
  [
    "node",
    "POST /v3/discovery:secrets",
    404,
    { body: pollBody("clusters", nodeOf("web"), { names: ["a"] }).replace(/,"type_url":"[^"]*"/, "") },
  ],
  ["node", "POST /v3/delta:clusters", 200, { body: deltaBody }],
  ["node", "POST /v3/delta:clusters?shape=poll", 200, { body: deltaBody }],
  ["node", "POST /v3/delta:clusters", 413, { body: "x".repeat(limits.deltaBytes + 1) }],
  ["node", `POST ${deltaPath}`, 200, { body: deltaBody, headers: json }],
  ["node", "GET /v3/discovery:clusters", 404],
  ["node", "OPTIONS /v3/discovery:clusters", 404, { headers: { origin: "http://evil.example" } }],
  ["node", "PUT /v3/discovery:clusters", 404, { body: poll }],
  ["node", "GET /v3/head", 200],
  ["node", "HEAD /v3/head", 200],
  ["node", "GET /v3/blobs/{root}", 200],
  ["node", "HEAD /v3/blobs/{root}", 200],
  ["node", "GET /v3/blobs/none", 404],
  ["node", `GET /v3/wasm/${"0".repeat(64)}`, 404],
  ["other", "POST /v3/discovery:clusters", 403, { body: poll }],
  ["nobody", "POST /v3/discovery:clusters", 401, { body: poll }],
  ["nobody", "POST /v3/discovery:clusters", 401, { body: "x".repeat(100_000) }],
  ["forged", "POST /v3/discovery:clusters", 401, { body: poll }],
  ["v1", "POST /v3/discovery:clusters", 403, { body: poll }],
];

const ofOperators: readonly Case[] = [
  ...(
    [
      "/refusals",
      "/strangers",
      "/metrics",
      "/status/nodes?limit=1",
      "/api/overview",
      "/cache_stats",
      "/v1/registration",
    ] as const
  ).flatMap((path): Case[] => [
    ["node", `GET ${path}`, 403],
    ["nobody", `GET ${path}`, 401],
  ]),
  ["operator", "GET /refusals", 200],
  ["operator", "HEAD /refusals", 200],
  ["operator", "POST /refusals", 404, { body: "{}", headers: json }],
  ["operator", "GET /metrics", 404],
  ["operator", "GET /status/nodes", 404],
  ["operator", "GET /api/classes?limit=1", 200],
  ["operator", "HEAD /api/classes?limit=1", 200],
  ["operator", "GET /api/classes?limit=1&limit=2", 400],
  ["operator", "GET /api/classes?nothing=1", 400],
  ["operator", "GET /api/classes/web", 200],
  ["operator", "GET /api/classes/none%20%2F", 404],
  ["operator", "POST /api/moves", 403, { body: "{}", headers: json }],
  ["operator", "GET /api/none", 404],
  ["operator", "GET /cache_stats", 200],
  ["operator", "POST /cache_stats_delete", 200],
  ["operator", "GET /nothing/here", 404],
  ["operator", "PROPFIND /nothing", 404],
  ["v1", "GET /v1/clusters/a/b", 404],
  ["v1", "HEAD /v1/clusters/a/b", 404],
  ["v1", `GET /v1/az/a/b?${"x".repeat(limits.urlBytes)}`, 414],
  ["v1", "GET /v1/registration", 403],
  ["v1", "GET /cache_stats/../v1/clusters/a/b", 404],
  ["v1", "GET /cache_stats/%2e%2e/v1/clusters/a/b", 404],
  ["v1", "GET /v1/clusters/../../cache_stats", 403],
];

const ofAll: readonly Case[] = [
  ["nobody", "GET /livez", 200],
  ["nobody", "HEAD /livez", 200],
  ["nobody", "POST /livez", 401],
  ["nobody", "GET /readyz", 200],
  ["nobody", "GET /healthz", 200],
  ["nobody", "HEAD /healthz", 200],
  ["nobody", "GET /", 200],
  ["nobody", "GET /console/a.js", 200],
  ["nobody", "GET /console/none.js", 404],
  ["nobody", "GET /console/..%2Frefusals", 401],
  ["nobody", "GET /console/../refusals", 401],
];

const calls: readonly Case[] = [
  ["node", `POST ${fetchPath}`, 200, { body: poll, headers: json }],
  ["node", `POST ${fetchPath}`, 400, { body: "{", headers: json }],
  ["node", `POST ${fetchPath}`, 429, { body: "x".repeat(limits.pollBytes + 1), headers: json }],
  ["node", `POST ${fetchPath}`, 400, { body: "no message", headers: { "content-type": "application/proto" } }],
  ["node", `POST ${fetchPath}`, 415, { body: poll, headers: { "content-type": "text/plain" } }],
  ["node", `POST ${fetchPath}`, 415, { body: poll }],
  ["node", `GET ${fetchPath}`, 404],
  ["node", `POST ${deltaPath}`, 200, { body: deltaBody, headers: json }],
  ["node", `POST ${deltaPath}`, 415, { body: deltaBody, headers: { "content-type": "text/plain" } }],
  ["other", `POST ${fetchPath}`, 403, { body: poll, headers: json }],
  ["nobody", `POST ${fetchPath}`, 401, { body: poll, headers: json }],
  ["forged", `POST ${fetchPath}`, 401, { body: poll, headers: json }],
];

const named = (cases: readonly Case[]) =>
  cases.map(
    ([who, what, status, more]) => [`${who}: ${what.slice(0, 80)} -> ${status}`, who, what, status, more] as const,
  );

describe("a request is answered alike by a Worker, by Lambda and by Node", () => {
  it.each(named([...ofNodes, ...ofOperators, ...ofAll, ...calls]))("%s", async (_name, who, what, status, more) => {
    const sent = sentBy(who, what.split(" "), more);
    const expected = await reference(sent);
    expect(expected.status).toBe(status);
    for (const [name, adapter] of Object.entries(adapters))
      expect([name, await adapter(sent)]).toEqual([name, expected]);
  });

  it("gets the same whether it proves who it is twice or not at all", async () => {
    const authorization = [`Bearer ${tokens.node}`, "Bearer x"];
    const sent: Sent = { method: "POST", path: "/v3/discovery:clusters", headers: { authorization }, body: poll };
    const expected = await reference(sent);
    expect(expected.status).toBe(401);
    for (const adapter of Object.values(adapters)) expect(await adapter(sent)).toEqual(expected);
  });
});

describe("a call of Connect's is answered over HTTP/2 as elsewhere", () => {
  it.each(named(calls))("%s", async (_name, who, what, status, more) => {
    const sent = sentBy(who, what.split(" "), more);
    const expected = await reference(sent);
    expect(expected.status).toBe(status);
    expect(await http2(sent)).toEqual(expected);
  });
});

describe("on Node", () => {
  /** Sends bytes as they are. @returns all that comes until the connection ends */
  async function raw(head: string): Promise<string> {
    const { hostname, port } = new URL(hanging);
    const socket = connect(Number(port), hostname);
    socket.write(head);
    return text(socket);
  }

  it.each([
    ["a host that is none", "POST /v3/discovery:clusters HTTP/1.1\r\nhost: a b\r\ncontent-length: 0\r\n\r\n"],
    ["a backslash in its path", "GET /v3\\head HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"],
    ["no path", "OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n"],
  ])("a request with %s is refused", async (_what, head) => {
    expect(await raw(head)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("a connection ends whose request has its answer and goes on all the same", async () => {
    const head = "POST /v3/discovery:clusters HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\nx";
    expect(await raw(head)).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe("room for an answer", () => {
  it("is given back where only the head of it is asked for", async () => {
    const test = testFront({ limits: { ...limits, answersBytes: 1 } });
    await test.publish(worldOf({ web: { clusters: { a: "1" } } }));
    const path = `/v3/blobs/${await rootOf(test)}`;
    for (let round = 0; round < 3; round += 1) expect((await test.request(path, { method: "HEAD" })).status).toBe(200);
    expect(test.front.answers.tryEnter(1)).toBeDefined();
  });
});
