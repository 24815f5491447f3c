import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { R2Bucket } from "@cloudflare/workers-types";
import { afterAll, beforeAll, expect, it } from "vitest";
import { getPlatformProxy } from "wrangler";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { freePort } from "../free-port.ts";
import { pushShop } from "./weighted-shop.ts";

const root = new URL("../..", import.meta.url).pathname;
const secret = "a-shared-secret";

let directory = "";
const running: Worker[] = [];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "portolan-worker-end-"));
});
afterAll(async () => {
  for (const worker of running) worker.kill();
  await rm(directory, { recursive: true, force: true });
});

interface Worker {
  readonly url: string;
  /** Ends workerd and all around it, without a signal that could be heard. */
  kill(): Promise<unknown>;
}

/** A Worker in workerd whose bucket lies in the folder, and outlives it. */
async function start(config: string, variable: string): Promise<Worker> {
  const port = await freePort();
  const args = ["wrangler", "dev", "-c", config, "--persist-to", directory, "--port", String(port), "--var", variable];
  const child = spawn("npx", [...args, "--inspector-port", "0"], { cwd: root, detached: true, stdio: "ignore" });
  const exit = new Promise((resolve) => child.once("exit", resolve));
  const worker: Worker = {
    url: `http://127.0.0.1:${port}`,
    kill() {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, "SIGKILL");
      return exit;
    },
  };
  running.push(worker);
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const answer = await fetch(`${worker.url}/healthz`).catch(() => undefined);
    await answer?.text();
    if (answer !== undefined) return worker;
    await sleep(100);
  }
  throw new Error(`${config} is not served`);
}

const push = ({ url }: Worker, weight: number) => pushShop(url, secret, weight);

it("a Worker that is ended with its answer, or in the middle of one, has lost nothing", async () => {
  const compile = () => start("wrangler.compile.toml", `PORTOLAN_WEBHOOK_SECRET:${secret}`);
  let worker = await compile();
  expect(await push(worker, 10)).toBe(200);
  await worker.kill();

  worker = await compile();
  expect(await push(worker, 10)).toBe(409);
  const cut = push(worker, 11);
  await sleep(150);
  await worker.kill();
  const answered = await cut;

  worker = await compile();
  let status = await push(worker, 11);
  // Whoever was killed may still hold the delivery; senders try again.
  for (let attempt = 0; status === 503 && attempt < 60; attempt += 1) {
    await sleep(1_000);
    status = await push(worker, 11);
  }
  expect(answered === 200 ? [409] : [200, 409]).toContain(status);
  expect(await push(worker, 12)).toBe(200);
  await worker.kill();

  const platform = await getPlatformProxy<{ readonly SNAPSHOTS: R2Bucket }>({
    configPath: join(root, "wrangler.toml"),
    persist: { path: join(directory, "v3") },
  });
  const store = r2Store(platform.env.SNAPSHOTS);
  expect((await readHead(store))?.head.generation).toBe(3);
  expect((await fsck(store)).problems).toEqual([]);
  await platform.dispose();
}, 240_000);
