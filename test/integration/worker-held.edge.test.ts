/** Polls that the front Worker holds with the settings that it is deployed with, behind what Cloudflare does to requests. */
import { readFileSync } from "node:fs";
import { request as requestHttps } from "node:https";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { holdMsIn } from "../../functions/worker-front.ts";
import { signRequest } from "../../lib/compile/webhook/signature.ts";
import { type Platform, platforms, startPlatform } from "../e2e/platform.ts";
import { weightedShop } from "./weighted-shop.ts";

const secret = "a-shared-secret";
const config = (file: string) => new URL(`../../${file}`, import.meta.url);
const harness = createTestHarness({
  workers: [
    { configPath: config("wrangler.toml"), vars: { AUTHENTICATION: "off" } },
    { configPath: config("wrangler.compile.toml"), secrets: { PORTOLAN_WEBHOOK_SECRET: secret } },
  ],
});

let platform: Platform;
let ca: Buffer;
beforeAll(async () => {
  platform = await startPlatform("cloudflare", (await harness.listen()).url.origin);
  ca = readFileSync(platform.caFile);
}, 120_000);
afterAll(async () => {
  await platform.close();
  await harness.close();
});

async function push(weight: number): Promise<number> {
  const body = JSON.stringify({ files: await weightedShop(weight) });
  const request = { method: "POST", target: "/sources/main", body: new TextEncoder().encode(body) };
  const headers = await signRequest(secret, request, `delivery-${weight}`, Date.now());
  const answer = await harness.getWorker("portolan-compile").fetch("http://compile/sources/main", {
    method: "POST",
    headers: { ...headers },
    body,
  });
  await answer.text();
  return answer.status;
}

const node = { id: "router~127.0.0.1~istio-ingressgateway-1.bookshop~bookshop.svc.cluster.local", cluster: "x" };

/** Polls over the platform, as an Envoy that waits for 45 s. */
function poll(type: string, more: object, signal?: AbortSignal): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "x-envoy-expected-rq-timeout-ms": "45000" };
    const options = { method: "POST", headers, ca, ...(signal === undefined ? {} : { signal }) };
    const sent = requestHttps(`${platform.url}/v3/discovery:${type}`, options, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode, text: body }), reject);
    });
    sent.once("error", reject);
    sent.end(JSON.stringify({ node, ...more }));
  });
}

it("a poll is held for less time than Cloudflare waits for an answer, whatever is set", () => {
  for (const setting of [undefined, "90000", "3600000"])
    expect(holdMsIn(setting)).toBeLessThan(platforms.cloudflare.silence.ms);
});

it("a poll that a Worker holds is answered with the change though the one that was held before it has gone", async () => {
  expect(await push(10)).toBe(200);
  const { text: listeners } = await poll("listeners", {});
  const name = /"route_?[cC]onfig_?[nN]ame":"([^"]+)"/.exec(listeners)?.[1] ?? "";
  const routes = { resource_names: [name] };
  const first = await poll("routes", routes);
  expect(first.status).toBe(200);
  const current = { ...routes, version_info: JSON.parse(first.text).version_info };

  // The first to be held sets the timers, if they are anybody's.
  const gone = new AbortController();
  const left = poll("routes", current, gone.signal).catch(() => "gone");
  await new Promise((resolve) => setTimeout(resolve, 300));
  let answered = 0;
  const held = [1, 2, 3].map(async () => {
    const answer = await poll("routes", current);
    answered += 1;
    return answer;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  gone.abort();
  expect(await left).toBe("gone");
  expect(answered).toBe(0);
  expect(await push(11)).toBe(200);
  // Whoever starves is told in the end that nothing is new.
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);
}, 120_000);
