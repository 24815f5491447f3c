/** What holding polls costs in workerd: requests, reads of R2 and CPU, beside what docs/cost.md says of them. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { R2Bucket } from "@cloudflare/workers-types";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { listPrices } from "../../lib/cli/cost/prices.ts";
import { useOf, usualFleet } from "../../lib/cli/cost/use.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { nodeOf, pollBody } from "../front/fixtures.ts";
import { lacks } from "../skip.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { countsOf, writeCountingFront } from "./counting-front.ts";

let directory = "";
let harness: ReturnType<typeof createTestHarness>;
let url = "";
let store: ObjectStore;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "portolan-worker-cost-"));
  const configPath = await writeCountingFront(directory);
  harness = createTestHarness({ workers: [{ configPath, vars: { AUTHENTICATION: "off", MAX_HOLD_MS: "60000" } }] });
  url = (await harness.listen()).url.origin;
  const { SNAPSHOTS } = await harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>().getEnv();
  store = r2Store(SNAPSHOTS);
  await publish("0");
}, 120_000);
afterAll(async () => {
  await harness.close();
  await rm(directory, { recursive: true, force: true });
});

async function publish(content: string): Promise<void> {
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  await publisher.publish(worldOf({ web: { clusters: { a: content } } }), await publisher.head());
}

const counts = () => countsOf((path) => fetch(url + path));

/** Polls as a node that waits so long beyond the hold. @returns the version it has then, and whether that is news */
async function poll(holdMs: number, version?: string) {
  const response = await fetch(`${url}/v3/discovery:clusters`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-envoy-expected-rq-timeout-ms": String(holdMs + 5_000) },
    body: pollBody("clusters", nodeOf("web"), version === undefined ? {} : { version }),
  });
  const text = await response.text();
  return response.status === 200
    ? { isNews: true, version: String(JSON.parse(text).version_info) }
    : { isNews: false, version };
}

/** CPU that the workerd below this process has taken, in milliseconds. */
function workerdCpuMs(): number {
  const processes = readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
      const fields = rest.split(" ");
      return [{ name, parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }];
    } catch {
      return [];
    }
  });
  const own = processes.filter(({ name, parent }) => name === "workerd" && parent === process.pid);
  if (own.length === 0) throw new Error("there is no workerd below this process");
  // A clock tick of Linux's accounting is 10 ms.
  return own.reduce((sum, { ticks }) => sum + ticks * 10, 0);
}

it.skipIf(lacks(process.platform === "linux", "Linux"))(
  "a poll that is held takes a look at the clock a second, and HEAD is read once a second for all of them",
  async () => {
    const held = 200;
    const { version } = await poll(0);
    const polls = Array.from({ length: held }, () => poll(40_000, version));
    await sleep(3_000);
    const before = { cpuMs: workerdCpuMs(), ...(await counts()), atMs: performance.now() };
    await sleep(12_000);
    const after = { cpuMs: workerdCpuMs(), ...(await counts()) };
    const seconds = (performance.now() - before.atMs) / 1_000;
    const cpuMs = (after.cpuMs - before.cpuMs) / (held * seconds);
    // Printed, and not asserted: on a machine that does something else as well, the same work takes more CPU time.
    const { heldSecondCpuMs: reckoned } = listPrices.cloudflare;
    console.log(
      `workerd: ${held} held polls take ${cpuMs.toFixed(4)} ms of CPU each second, reckoned with ${reckoned}, and ${((after.reads - before.reads) / seconds).toFixed(2)} reads a second together`,
    );
    expect(after.requests).toBe(before.requests);
    expect(after.reads - before.reads).toBeGreaterThan(seconds / 2);
    expect(after.reads - before.reads).toBeLessThan(seconds * 1.2 + 2);

    await publish("1");
    expect((await Promise.all(polls)).filter(({ isNews }) => isNews)).toHaveLength(held);
  },
  90_000,
);

it("a fleet whose polls are held makes the requests and the reads that the formula says", async () => {
  const fleet = { ...usualFleet, proxies: 40, loops: 1, fronts: 1, holdMs: 6_000, idleCompiles: 0, readsPerCompile: 0 };
  const periodMs = 30_000;
  let ends = false;
  const proxies = Array.from({ length: fleet.proxies }, async (_, i) => {
    let version: string | undefined;
    await sleep((i * 2_000) / fleet.proxies);
    for (let round = i; !ends; round += 1) {
      ({ version } = await poll(fleet.holdMs, version));
      // Between one and two delays, as Envoy waits, and 1.5 at the mean.
      await sleep(fleet.delayMs * (1 + ((round * 7) % 11) / 10));
    }
  });
  await sleep(10_000);
  const before = { ...(await counts()), atMs: performance.now() };
  await sleep(periodMs);
  const after = await counts();
  const use = useOf({ ...fleet, changes: 0 }, performance.now() - before.atMs);
  ends = true;
  await Promise.all(proxies);
  const [requests, reads] = [after.requests - before.requests, after.reads - before.reads];
  console.log(
    `workerd: ${requests} requests where ${use.requests.toFixed(0)} are said, ${reads} reads where ${use.storeReads.toFixed(0)}`,
  );
  expect(requests).toBeGreaterThan(use.requests * 0.8);
  expect(requests).toBeLessThan(use.requests * 1.2);
  expect(reads).toBeGreaterThan(use.storeReads * 0.5);
  expect(reads).toBeLessThan(use.storeReads * 1.2 + 2);
}, 90_000);
