/** `npm run serve` on several cores: real processes on the same ports. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { program } from "../programs.ts";
import { lacks } from "../skip.ts";
import { worldOf } from "../snapshot/worlds.ts";

const entry = await program("server");
const node = { id: "sidecar~10.0.0.5~web-0.shop~shop.svc.cluster.local", metadata: { NAMESPACE: "shop" } };
const world = (round: string) =>
  worldOf(
    { web: { clusters: { c: round } } },
    {
      classifier: {
        attributes: ["namespace"],
        labels: {},
        classes: { [JSON.stringify(["shop"])]: "web" },
        defaults: {},
      },
      nodes: [],
    },
  );

let folder = "";
let child: ChildProcess;
let url = "";
const lines: { readonly msg?: string; readonly urls?: readonly string[]; readonly nodeId?: string }[] = [];
let publish: (round: string) => Promise<void> = async () => {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-workers-"));
  const publisher = createPublisher(fileStore(folder), { pace: { settleMs: 0, retentionMs: 0 } });
  publish = async (round) => void (await publisher.publish(world(round), await publisher.head()));
  await publish("one");
  child = spawn(process.execPath, [entry], {
    env: { ...process.env, PORTOLAN_STORE: folder, PORT: "0", PORTOLAN_WORKERS: "3" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { stdout } = child;
  if (stdout !== null) createInterface(stdout).on("line", (line) => lines.push(JSON.parse(line)));
  await until(() => lines.some(({ urls }) => urls !== undefined));
  url = lines.find(({ urls }) => urls !== undefined)?.urls?.[0] ?? "";
}, 60_000);

afterAll(async () => {
  child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

async function until(isSo: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 400 && !isSo(); attempt += 1) await sleep(50);
  expect(isSo()).toBe(true);
}

/** The processes that serve. */
const workers = (): readonly number[] =>
  execFileSync("ps", ["-o", "pid=", "--ppid", String(child.pid)], { encoding: "utf8" })
    .split("\n")
    .map(Number)
    .filter((pid) => pid > 0);

interface Polled {
  readonly status: number;
  readonly version: string;
}

/** On a connection of its own, so that the processes take turns. */
async function poll(version?: string, patienceMs = 1_000, asking: object = node): Promise<Polled> {
  const answer = await fetch(`${url}/v3/discovery:clusters`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-envoy-expected-rq-timeout-ms": String(patienceMs),
      connection: "close",
    },
    body: JSON.stringify({ node: asking, ...(version === undefined ? {} : { version_info: version }) }),
  });
  return { status: answer.status, version: /"version_info":"([^"]+)"/.exec(await answer.text())?.[1] ?? "" };
}

const read = async (path: string) => (await fetch(url + path, { headers: { connection: "close" } })).text();

describe.skipIf(lacks(process.platform === "linux", "Linux"))("a front of several processes", () => {
  it("serves from each of them, and tells of all of them what one is asked", async () => {
    expect(workers()).toHaveLength(3);
    const polled = await Promise.all(Array.from({ length: 12 }, () => poll()));
    expect(polled.map(({ status }) => status)).toEqual(polled.map(() => 200));
    for (let at = 0; at < 6; at += 1) expect((await poll(undefined, 1_000, { id: "my-node" })).status).toBe(404);
    expect(await read("/metrics")).toContain('portolan_polls_total{type="clusters",outcome="changed"} 12');
    const { strangers } = JSON.parse(await read("/strangers"));
    expect(strangers).toMatchObject([{ nodeId: "my-node" }]);
    expect(lines.filter(({ nodeId }) => nodeId === "my-node")).toHaveLength(1);
    for (const { version } of polled.slice(0, 1)) await poll(version);
    const { nodes } = JSON.parse(await read("/status/nodes"));
    expect(nodes).toMatchObject([{ node: node.id, resources: [{ type: "clusters" }] }]);
  });

  it("answers the polls that any of them holds when one change comes", async () => {
    const { version } = await poll();
    const held = Array.from({ length: 12 }, () => poll(version, 30_000));
    await sleep(500);
    const startMs = performance.now();
    await publish("two");
    const answers = await Promise.all(held);
    expect(answers.map(({ status }) => status)).toEqual(held.map(() => 200));
    expect(new Set(answers.map((answer) => answer.version)).size).toBe(1);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });

  it("has another take the place of one that dies, and serves meanwhile", async () => {
    const before = workers();
    const [victim = 0] = before;
    process.kill(victim, "SIGKILL");
    // Who dies takes the connections along that it has; nobody else notices.
    await until(() => !workers().includes(victim));
    for (let at = 0; at < 12; at += 1) expect((await poll()).status).toBe(200);
    await until(() => workers().length === 3);
    expect(lines.some(({ msg }) => msg?.includes("has ended (SIGKILL); another takes its place"))).toBe(true);
  });

  it("ends with all of them when its first process dies", async () => {
    const all = workers();
    child.kill("SIGKILL");
    // One that has ended may wait for somebody to hear of it.
    await until(() => all.every((pid) => !isAlive(pid)));
  });
});

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
