import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../free-port.ts";
import { lacks } from "../skip.ts";
import { serverBinary } from "./server-binaries.ts";

/** A real Consul of one server on loopback. */
export interface ConsulServer {
  readonly url: string;
  /** @throws with Consul's words when it refuses */
  put(path: string, body?: object): Promise<void>;
  /** Ends it without a word of farewell. */
  kill(): Promise<void>;
  /** Starts it again at the same address; it has forgotten everything, and counts from the beginning. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface ConsulServerOptions {
  /** Further settings of the agent, as its configuration file has them. */
  readonly settings?: object;
  /** Sent with every request. */
  readonly token?: string;
}

/** Whether Consul is there; says loudly where it is not. */
export function hasConsul(): boolean {
  const isThere = serverBinary("consul-1.15.4") !== undefined;
  return !lacks(isThere, "Consul: npm run test:servers builds it");
}

export async function startConsul({ settings = {}, token }: ConsulServerOptions = {}): Promise<ConsulServer> {
  const binary = serverBinary("consul-1.15.4") ?? "consul";
  const folder = await mkdtemp(join(tmpdir(), "portolan-consul-"));
  const [http, server, serf] = [await freePort(), await freePort(), await freePort()];
  const url = `http://127.0.0.1:${http}`;
  const file = join(folder, "settings.json");
  await writeFile(
    file,
    JSON.stringify({
      ports: { http, server, serf_lan: serf, serf_wan: -1, grpc: -1, grpc_tls: -1, dns: -1 },
      bind_addr: "127.0.0.1",
      client_addr: "127.0.0.1",
      node_name: "node-a",
      datacenter: "dc1",
      disable_update_check: true,
      ...settings,
    }),
  );
  const headers = token === undefined ? {} : { "x-consul-token": token };
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    let log = "";
    const started = spawn(binary, ["agent", "-dev", "-config-file", file], { stdio: ["ignore", "pipe", "pipe"] });
    child = started;
    const note = (data: unknown) => {
      log = (log + String(data)).slice(-20_000);
    };
    started.stdout.on("data", note);
    started.stderr.on("data", note);
    const deadline = Date.now() + 60_000;
    for (;;) {
      const nodes: unknown = await fetch(`${url}/v1/catalog/nodes`, { headers }).then(
        (response) => (response.ok ? response.json() : []),
        () => [],
      );
      if (Array.isArray(nodes) && nodes.length > 0) return;
      if (started.exitCode !== null || Date.now() > deadline) throw new Error(`Consul does not start\n${log}`);
      await sleep(50);
    }
  }
  async function end(): Promise<void> {
    const ended = child;
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
    const exit = new Promise<void>((resolve) => ended.once("exit", () => resolve()));
    ended.kill("SIGKILL");
    await exit;
  }
  await start();
  return {
    url,
    async put(path, body) {
      const sent = { method: "PUT", headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const response = await fetch(`${url}/v1/${path}`, sent);
      if (!response.ok) throw new Error(`Consul answered ${path} with ${response.status}: ${await response.text()}`);
    },
    kill: end,
    restart: start,
    async stop() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Free at the moment. */
