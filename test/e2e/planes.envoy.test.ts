/** Configuration and registry are two planes: whatever an operator does with the one, the other goes on. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { eventually, type RunningEnvoy } from "./envoy.ts";
import { host, openReplacedPods, type ReplacedPods } from "./replaced-pods.ts";
import { failures, startTraffic } from "./traffic.ts";

let pods: ReplacedPods;
let others: RunningEnvoy;
let tenth: RunningEnvoy;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  pods = await openReplacedPods("first");
  const front = createFront({ store: pods.store, maxHoldMs: 20_000 });
  const server = await serveHttp(frontApp(front), 0, "127.0.0.1", limits);
  closing.push(() => front.close(), server.close);
  [others, tenth] = await Promise.all([
    pods.gateway(server.url, (share) => share >= 0.1),
    pods.gateway(server.url, (share) => share < 0.1),
  ]);
}, 60_000);
afterAll(async () => {
  await Promise.all([others?.stop(), tenth?.stop()]);
  for (const close of closing) await close();
  await pods?.close();
});

/** The configuration that an Envoy routes by. */
async function configurationOf(envoy: RunningEnvoy): Promise<string> {
  const dump = await envoy.admin("/config_dump?resource=dynamic_route_configs");
  return [...new Set([...dump.matchAll(/"value": "is-(\w+)"/g)].map(([, name = ""]) => name))].join();
}
const has = (envoy: RunningEnvoy, name: string) =>
  eventually(
    () => configurationOf(envoy),
    (is) => is === name,
    20_000,
  );
const haveBoth = (name: string, tried = name) => Promise.all([has(others, name), has(tenth, tried)]);

/** Until each pod that was there is gone, and so is what came after it. */
async function aWhile(): Promise<void> {
  const from = pods.replaced();
  while (pods.replaced() < from + 5) await sleep(100);
}

it("no request fails while pods are replaced every second, through publish, rollback, pin, canary, promote, abort and unpin", async () => {
  const traffic = startTraffic(pods.port, host);
  const noneFailed = () => expect(failures(traffic, ["web"])).toEqual(new Map());
  await haveBoth("first");

  await pods.configure("bad", { by: "ann@host", why: "a bad route" });
  await haveBoth("bad");
  await aWhile();

  const { generation } = (await readHead(pods.store))?.head ?? { generation: 0 };
  const told = await pods.portolan("rollback", "--why", "the checkout is down");
  expect(told).toContain("services and endpoints are followed");
  expect((await readHead(pods.store))?.head.generation).toBeGreaterThan(generation);
  await haveBoth("first");
  await aWhile();
  noneFailed();

  // What is published while something is pinned is for nobody, endpoints apart; whoever compiles remembers nothing.
  pods.restart();
  await pods.configure("second");
  await aWhile();
  await haveBoth("first");
  noneFailed();
  await pods.portolan("unpin");
  await haveBoth("second");
  await aWhile();

  await pods.configure("third", { share: { percent: 10, labels: {} } });
  await haveBoth("second", "third");
  await aWhile();
  noneFailed();
  await pods.portolan("promote");
  await haveBoth("third");
  await aWhile();

  await pods.configure("fourth", { share: { percent: 10, labels: {} } });
  await haveBoth("third", "fourth");
  await aWhile();
  await pods.portolan("abort");
  await haveBoth("third");
  await aWhile();
  noneFailed();

  await pods.portolan("rollback", "2");
  await haveBoth("first");
  await aWhile();
  await pods.portolan("unpin");
  await haveBoth("fourth");
  await aWhile();

  const history = (await pods.portolan("history", "--config", "--limit", "100")).trim().split("\n");
  expect(history.length).toBeLessThan(pods.replaced());
  await traffic.stop();
  noneFailed();
  expect(traffic.counts().get("web")).toBeGreaterThan(1_000);
}, 300_000);
