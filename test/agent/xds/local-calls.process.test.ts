import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type OutgoingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFrontClient } from "../../../lib/agent/source/front-client.ts";
import { createLocalCalls } from "../../../lib/agent/xds/local-calls.ts";
import { createLocalState } from "../../../lib/agent/xds/local-host.ts";
import { type LocalServer, serveLocal } from "../../../lib/agent/xds/local-server.ts";
import { hashOf } from "../../../lib/base/blob.ts";

const code = new Uint8Array(500_000).map((_, at) => at * 7);
const sha256 = hashOf(code);
const answer = (version: string) =>
  JSON.stringify({
    version_info: version,
    resources: [
      { code: { remote: { httpUri: { uri: `http://portolan/v3/wasm/${sha256}`, cluster: "portolan" } } } },
      { tracing: { uri: "http://portolan/other", cluster: "portolan" } },
    ],
  });

/** What the agent's server does; undefined: it is away. */
type Front = (request: IncomingMessage, response: ServerResponse) => void;

let folder = "";
let front: Front | undefined;
let asked: string[] = [];
let local: LocalServer;
let stop: () => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-calls-"));
  asked = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (front === undefined) request.socket.destroy();
    else front(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const client = createFrontClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  local = await serveLocal(
    join(folder, "socket"),
    () => createLocalState().host(noEvents),
    () => {},
    createLocalCalls(client, folder),
  );
  stop = () => {
    client.close();
    server.close();
  };
});
afterEach(async () => {
  await local.close();
  stop();
  await rm(folder, { recursive: true, force: true });
});

const noEvents = { connected() {}, hasFromBefore() {}, accepted() {}, settled() {}, refused() {} };

/** What an Envoy does at the agent's socket. */
async function call(headers: OutgoingHttpHeaders, body?: string) {
  const session = connect("http://agent", { path: join(folder, "socket") });
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const [head] = await once(stream, "response");
  const bytes = new Uint8Array(await buffer(stream));
  session.close();
  return { status: Number(head[":status"]), bytes, text: new TextDecoder().decode(bytes) };
}

const module = () => call({ ":path": `/v3/wasm/${sha256}` });
const poll = (version: string, name = "a") =>
  call(
    { ":path": "/v3/discovery:extension_configs", ":method": "POST", "x-envoy-expected-rq-timeout-ms": "30000" },
    JSON.stringify({ version_info: version, node: { id: "n" }, resource_names: [name], type_url: "t" }),
  );

describe("a module at an agent", () => {
  it("is read from the server once, and then kept", async () => {
    front = (_request, response) => response.end(code);
    const answers = await Promise.all([module(), module(), module()]);
    expect(answers.map(({ status, bytes }) => [status, hashOf(bytes)])).toEqual(Array(3).fill([200, sha256]));
    front = undefined;
    expect(hashOf((await module()).bytes)).toBe(sha256);
    expect(asked).toEqual([`GET /v3/wasm/${sha256}`]);
  });

  it("is nothing but the bytes that its name stands for", async () => {
    front = (_request, response) => response.end(code.slice(1));
    expect(await module()).toMatchObject({ status: 503, text: expect.stringContaining("other bytes") });
    front = (_request, response) => response.writeHead(404).end();
    expect(await module()).toMatchObject({ status: 503, text: expect.stringContaining("404") });
    expect(await readdir(join(folder, "wasm"))).toEqual([]);
    front = (_request, response) => response.end(code);
    await writeFile(join(folder, "wasm", sha256), "damaged");
    expect(hashOf((await module()).bytes)).toBe(sha256);
  });

  it("is no larger than a module may be, however long the server goes on", async () => {
    const megabyte = Buffer.alloc(1024 * 1024);
    front = (_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(megabyte));
      };
      response.on("drain", more);
      more();
    };
    expect(await module()).toMatchObject({ status: 503, text: expect.stringContaining("more than 64 MiB") });
    expect(await readdir(join(folder, "wasm"))).toEqual([]);
  });
});

describe("a poll for configurations of extensions at an agent", () => {
  it("is answered as the server answers it, with modules from the agent", async () => {
    front = async (request, response) => {
      const body: { readonly version_info: string } = JSON.parse(await text(request));
      expect(request.headers["x-envoy-expected-rq-timeout-ms"]).toBe("30000");
      if (body.version_info === "1") response.writeHead(304).end();
      else response.end(answer("1"));
    };
    const first = await poll("");
    expect([first.status, JSON.parse(first.text).resources]).toEqual([
      200,
      [
        { code: { remote: { httpUri: { uri: `http://portolan/v3/wasm/${sha256}`, cluster: "portolan-agent" } } } },
        { tracing: { uri: "http://portolan/other", cluster: "portolan" } },
      ],
    ]);
    expect((await poll("1")).status).toBe(304);
  });

  it("is the last good answer where the server has none, for an Envoy that has nothing", async () => {
    front = (_request, response) => response.end(answer("1"));
    const { text: last } = await poll("");
    for (const away of [
      undefined,
      (_request: IncomingMessage, response: ServerResponse) => response.writeHead(500).end(),
    ]) {
      front = away;
      expect(await poll("")).toMatchObject({ status: 200, text: last });
      expect((await poll("1")).status).toBeGreaterThanOrEqual(500);
      expect((await poll("", "other")).status).toBeGreaterThanOrEqual(500);
    }
    // A server that says nothing keeps it waiting no longer than it would wait by itself.
    front = () => {};
    expect(await poll("")).toMatchObject({ status: 200, text: last });
    const [file = ""] = await readdir(join(folder, "ecds"));
    expect(await readFile(join(folder, "ecds", file), "utf8")).toBe(last);
  });
});
