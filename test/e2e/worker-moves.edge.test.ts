/** Everything that moves HEAD, in R2, between Workers in workerd and two Envoys that poll them: one of the canary's, one of the others'. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { abortCanary, promoteCanary, rollback, unpin } from "../../lib/snapshot/head/head-operations.ts";
import {
  type Bookshop,
  openBookshop,
  rejections,
  serverNames,
  shopHost,
  startGateway,
  withWeights,
} from "./bookshop.ts";
import { workerdEdge } from "./edges.ts";
import { eventually, type RunningEnvoy } from "./envoy.ts";
import { saveNewServices } from "./new-services.ts";
import { failures, startTraffic } from "./traffic.ts";

const pollDelayMs = 200;
const labels = { track: "canary" };
let shop: Bookshop;
let edge: Awaited<ReturnType<typeof workerdEdge>>;
let others: RunningEnvoy;
let canaries: RunningEnvoy;

/** The bookshop with these weights, through the compile Worker. @returns what it says of it */
async function push(v1: number, v2: number, more: object = {}): Promise<unknown> {
  await shop.edit("catalog.yaml", withWeights(v1, v2));
  const answer = await edge.post("/sources/main", JSON.stringify({ files: await readFolder(shop.folder), ...more }));
  expect(answer.status).toBe(200);
  return answer.json();
}

/** The weights that an Envoy routes by. */
async function weightsOf(envoy: RunningEnvoy): Promise<string> {
  const dump = await envoy.admin("/config_dump?resource=dynamic_route_configs");
  return [...dump.matchAll(/"weight": (\d+)/g)].map(([, weight]) => weight).join("/");
}
const until = (envoy: RunningEnvoy, weights: string) =>
  eventually(
    () => weightsOf(envoy),
    (are) => are === weights,
  );
const both = (weights: string) => Promise.all([until(others, weights), until(canaries, weights)]);

/** As long as an Envoy takes to ask for everything several times, and a Worker to look at HEAD. */
const aWhile = () => sleep(1_000 + 8 * pollDelayMs);

beforeAll(async () => {
  shop = await openBookshop();
  edge = await workerdEdge({ POLL_DELAY_MS: String(pollDelayMs) });
  expect(await push(90, 10)).toMatchObject({ kind: "published", generation: 1 });
  [others, canaries] = await Promise.all([
    startGateway(edge.platform, { pollDelayMs }),
    startGateway(edge.platform, { pollDelayMs }, labels),
  ]);
}, 180_000);
afterAll(async () => {
  await Promise.all([others?.stop(), canaries?.stop()]);
  await edge?.close();
  await shop?.close();
});

it("a canary, its end either way, a rollback and what lets go of it reach the Envoys that they are for, and no request fails", async () => {
  const { store } = edge;
  const traffic = startTraffic(shop.port, shopHost, "/catalog");
  await both("90/10");

  const share = { percent: 0, labels };
  expect(await push(20, 80, { share, why: "try it" })).toMatchObject({ kind: "canary" });
  await until(canaries, "20/80");
  await aWhile();
  expect(await weightsOf(others)).toBe("90/10");
  await abortCanary(store, { why: "not good" });
  await until(canaries, "90/10");
  expect(await weightsOf(others)).toBe("90/10");

  expect(await push(30, 70, { share })).toMatchObject({ kind: "canary" });
  await until(canaries, "30/70");
  expect(await weightsOf(others)).toBe("90/10");
  await promoteCanary(store, { why: "good" });
  await both("30/70");

  await rollback(store, 1, { why: "it was not" });
  await both("90/10");
  // Whatever is pushed meanwhile is recorded, and not served.
  expect(await push(50, 50)).toMatchObject({ kind: "pinned" });
  await aWhile();
  expect([await weightsOf(others), await weightsOf(canaries)]).toEqual(["90/10", "90/10"]);
  await unpin(store, { why: "mended" });
  await both("50/50");

  await traffic.stop();
  expect([...traffic.counts().values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(100);
  expect(failures(traffic, serverNames)).toEqual(new Map());
}, 180_000);

it("a new service and the route to it come in steps: the route never before its cluster", async () => {
  const { failures: failed, inForceMs } = await saveNewServices(shop, 3, () => push(50, 50));
  console.log(`workerd: a new service answers ${inForceMs.map(Math.round).join(", ")} ms after it was saved`);
  expect(failed).toEqual(new Map());
  expect([...(await rejections(others)), ...(await rejections(canaries))]).toEqual([]);
}, 180_000);
