/** The servers that the front is measured beside, each in a process of its own, and what they use of the machine. */
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { R2Bucket } from "@cloudflare/workers-types";
import { getPlatformProxy } from "wrangler";
import { workerArguments } from "../../lib/front/workers/processes.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { freePort } from "../free-port.ts";
import type { Used } from "./front-child.ts";
import { answerSizes, benchWorld } from "./front-world.ts";

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** CPU time it has used so far, in µs. */
  cpuUs(): Promise<number>;
  close(): Promise<void>;
}

/** The front, or a bare server. */
export interface ChildServer extends Server {
  used(): Promise<Used>;
  /** Publishes another world. */
  change(): Promise<void>;
}

export async function childServer(kind: "front" | "plain"): Promise<ChildServer> {
  // As the server runs those that serve.
  const execArgv = kind === "front" ? [...process.execArgv, ...workerArguments] : process.execArgv;
  const child = fork(fileURLToPath(new URL("front-child.ts", import.meta.url)), [kind], { execArgv });
  const { url }: { readonly url: string } = await messageOf(child);
  const ask = async (what: "used" | "change"): Promise<Used> => {
    child.send(what);
    return messageOf(child);
  };
  return {
    url,
    pid: child.pid ?? 0,
    used: () => ask("used"),
    cpuUs: async () => (await ask("used")).cpuUs,
    change: async () => void (await ask("change")),
    async close() {
      const exit = once(child, "exit");
      child.disconnect();
      await exit;
    },
  };
}

async function messageOf(child: ChildProcess) {
  const [message] = await once(child, "message");
  return message;
}

/** nginx with one process that reads each request and answers by path, as the bare server does; undefined where it is not installed. */
export async function nginxServer(): Promise<Server | undefined> {
  if (!isInstalled("nginx")) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "portolan-nginx-"));
  const port = await freePort();
  for (const name of ["html", "logs"]) mkdirSync(join(folder, name));
  for (const size of Object.values(answerSizes)) writeFileSync(join(folder, "html", String(size)), "x".repeat(size));
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
     events { worker_connections 10000; }
     http {
       access_log off; keepalive_requests 1000000000; client_body_buffer_size 128k; default_type application/json;
       client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
       server {
         listen 127.0.0.1:${port}; root html; error_page 405 =200 $uri;
         location = /304 { return 304; }
       }
     }`,
  );
  const child = spawn("nginx", ["-p", folder, "-c", "nginx.conf"], { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  await isUp(`${url}/304`);
  return {
    url,
    pid: child.pid ?? 0,
    cpuUs: async () => processCpuUs(child.pid ?? 0),
    async close() {
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The Worker in workerd, as `wrangler dev` runs it, on a bucket that holds the world. Only where the system tells what processes use. */
export async function workerdServer(): Promise<Server | undefined> {
  if (process.platform !== "linux") return undefined;
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), "portolan-workerd-"));
  const platform = await getPlatformProxy<{ readonly SNAPSHOTS: R2Bucket }>({
    configPath: join(root, "wrangler.toml"),
    persist: { path: join(folder, "v3") },
  });
  const publisher = createPublisher(r2Store(platform.env.SNAPSHOTS), { pace: { settleMs: 0, retentionMs: 0 } });
  await publisher.publish(benchWorld(1), await publisher.head());
  await platform.dispose();
  const port = await freePort();
  const args = ["dev", "-c", "wrangler.toml", "--persist-to", folder, "--port", String(port), "--inspector-port", "0"];
  const child = spawn(join(root, "node_modules/.bin/wrangler"), [...args, "--var", "AUTHENTICATION:off"], {
    cwd: root,
    detached: true,
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  const close = async () => {
    const exit = once(child, "exit");
    if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    await exit;
    rmSync(folder, { recursive: true, force: true });
  };
  await isUp(`${url}/healthz`).catch(async (cause: unknown) => {
    await close();
    throw cause;
  });
  return {
    url,
    pid: child.pid ?? 0,
    cpuUs: async () =>
      descendantsOf(child.pid ?? 0)
        .filter((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("workerd"))
        .reduce((sum, pid) => sum + processCpuUs(pid), 0),
    close,
  };
}

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ["-v"], { stdio: "ignore" });
    return process.platform === "linux";
  } catch {
    return false;
  }
}

async function isUp(url: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.text();
    if (answer !== undefined) return;
    await sleep(100);
  }
  throw new Error(`${url} is not served`);
}

/** What Linux counts: hundredths of a second, of user and of system. */
function processCpuUs(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10_000;
}

/** Fields from the third on: what stands before may have any name in it. */
function statOf(pid: number): readonly string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function descendantsOf(pid: number): readonly number[] {
  const parents = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return [[Number(name), Number(statOf(Number(name))[1])] as const];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
  const below = (of: number): readonly number[] =>
    parents.filter(([, parent]) => parent === of).flatMap(([child]) => [child, ...below(child)]);
  return below(pid);
}
