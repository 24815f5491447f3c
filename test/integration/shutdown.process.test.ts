import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClusterDiscoveryService } from "../../gen/envoy/service/cluster/v3/cds_pb.ts";
import { freePort } from "../free-port.ts";
import { program } from "../programs.ts";

const [cli, serverProgram] = [await program("cli"), await program("server")];
const samples = new URL("../../samples/bookshop", import.meta.url).pathname;
const node = { id: "router~127.0.0.1~istio-ingressgateway-1.bookshop~bookshop.svc.cluster.local", cluster: "x" };

let folder = "";
const running: ChildProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-shutdown-"));
});
afterAll(async () => {
  for (const child of running) child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

interface Started {
  readonly url: string;
  readonly grpcUrl: string | undefined;
  /** Sends SIGTERM. @returns the exit code, and how long it took */
  end(): Promise<{ readonly code: number | null; readonly tookMs: number }>;
}

async function start(args: readonly string[], env: NodeJS.ProcessEnv, ports: readonly number[]): Promise<Started> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.push(child);
  createInterface(child.stdout).on("line", () => {});
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [url = "", grpcUrl] = ports.map((port) => `http://127.0.0.1:${port}`);
  for (const where of [url, grpcUrl].filter((one) => one !== undefined)) await isUp(where);
  return {
    url,
    grpcUrl,
    async end() {
      const startMs = performance.now();
      child.kill("SIGTERM");
      return { code: await exit, tookMs: performance.now() - startMs };
    },
  };
}

async function isUp(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(true));
      socket.once("error", () => resolve(false)).once("connect", () => socket.destroy());
    });
    if (open) return;
    await sleep(50);
  }
  throw new Error(`${url} is not served`);
}

/** `portolan dev` and the server, on the same mesh. */
const programs: readonly (readonly [string, () => Promise<Started>])[] = [
  [
    "portolan dev",
    async () => {
      const port = await freePort();
      const args = [cli, "dev", samples, "--port", String(port), "--store", join(folder, "dev")];
      return start(args, {}, [port]);
    },
  ],
  [
    "the server",
    async () => {
      const store = join(folder, "server");
      const push = spawn(process.execPath, [cli, "push", samples, "--store", store, "--binary-forms"]);
      expect(await new Promise((resolve) => push.once("exit", resolve))).toBe(0);
      const ports = [await freePort(), await freePort()];
      const env = { PORTOLAN_STORE: store, PORT: String(ports[0]), PORTOLAN_GRPC_PORT: String(ports[1]) };
      return start([serverProgram], env, ports);
    },
  ],
];

interface Answer {
  readonly status: number;
  readonly body: string;
}

function poll(url: string, agent: Agent, version: string, holdMs: number): Promise<Answer> {
  const body = JSON.stringify({
    node,
    version_info: version,
    type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  });
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "x-envoy-expected-rq-timeout-ms": String(holdMs) };
    const sent = request(`${url}/v3/discovery:clusters`, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** `dev` listens before it has published. */
async function isPublished(url: string): Promise<void> {
  const agent = new Agent();
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if ((await poll(url, agent, "", 1_000)).status === 200) return;
    await sleep(50);
  }
  throw new Error(`${url} has nothing to serve`);
}

/** Polls again and again on a connection of its own until there is nobody to ask. @returns what went otherwise */
async function pollOn(url: string, version: string, isEnding: () => boolean): Promise<readonly string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (;;) {
      const { status } = await poll(url, agent, version, 1_000);
      if (status !== 304) return [`answered ${status}`];
    }
  } catch (cause) {
    const text = String(cause);
    // Nobody listens: the request was not taken. Anything else is one that was taken and let fall.
    return isEnding() && text.includes("ECONNREFUSED") ? [] : [text];
  } finally {
    agent.destroy();
  }
}

/**
 * One session at a time, and another one once the server ends it. That of connect-node listens for no errors in the moment between a
 * GOAWAY and the end of a session, so that a busy client throws them where nothing catches them.
 */
function sessionsOf(authority: string): NonNullable<Parameters<typeof createGrpcTransport>[0]["sessionManager"]> {
  let session: ClientHttp2Session | undefined;
  return {
    authority,
    async request(method, path, headers, options) {
      if (session === undefined || session.closed || session.destroyed)
        session = connectHttp2(authority).on("error", () => {});
      return session.request({ ...headers, ":method": method, ":path": path }, options);
    },
    notifyResponseByteRead() {},
  };
}

async function callOn(grpcUrl: string | undefined, isEnding: () => boolean): Promise<readonly string[]> {
  if (grpcUrl === undefined) return [];
  const sessionManager = sessionsOf(grpcUrl);
  const client = createClient(ClusterDiscoveryService, createGrpcTransport({ baseUrl: grpcUrl, sessionManager }));
  for (;;) {
    try {
      await client.fetchClusters({ node });
    } catch (cause) {
      return isEnding() && /ECONNREFUSED|refused/i.test(String(cause)) ? [] : [`gRPC: ${String(cause)}`];
    }
  }
}

describe.each(programs)("%s under traffic", (_name, startProgram) => {
  it("answers every request that it has taken before it ends, and ends in time", async () => {
    const { url, grpcUrl, end } = await startProgram();
    await isPublished(url);
    const holding = Array.from({ length: 10 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const [first] = await Promise.all(holding.map((agent) => poll(url, agent, "", 1_000)));
    const { version_info: version } = JSON.parse(first?.body ?? "{}");
    const held = holding.map((agent) => poll(url, agent, version, 60_000));

    let ending = false;
    const isEnding = () => ending;
    const busy = Array.from({ length: 10 }, () => pollOn(url, version, isEnding));
    const calls = Array.from({ length: 4 }, () => callOn(grpcUrl, isEnding));
    await sleep(1_000);
    ending = true;
    const { code, tookMs } = await end();

    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(held.map(() => 304));
    expect((await Promise.all([...busy, ...calls])).flat()).toEqual([]);
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(8_000);
    for (const agent of holding) agent.destroy();
  }, 90_000);
});

describe("the server with several workers", () => {
  it("ends in order when it is told to while some of them are still starting", async () => {
    const port = await freePort();
    const env = { PORTOLAN_STORE: join(folder, "empty"), PORT: String(port), PORTOLAN_WORKERS: "4" };
    const { end } = await start([serverProgram], env, [port]);
    expect((await end()).code).toBe(0);
  }, 90_000);
});
