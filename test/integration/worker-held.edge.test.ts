import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { signRequest } from "../../lib/compile/webhook/signature.ts";
import { weightedShop } from "./weighted-shop.ts";

const secret = "a-shared-secret";
const config = (file: string) => new URL(`../../${file}`, import.meta.url);
const harness = createTestHarness({
  workers: [
    { configPath: config("wrangler.toml"), vars: { AUTHENTICATION: "off", MAX_HOLD_MS: "40000" } },
    { configPath: config("wrangler.compile.toml"), secrets: { PORTOLAN_WEBHOOK_SECRET: secret } },
  ],
});

let url = "";
beforeAll(async () => {
  url = (await harness.listen()).url.origin;
}, 120_000);
afterAll(() => harness.close());

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

async function poll(type: string, more: object, signal?: AbortSignal) {
  const answer = await fetch(`${url}/v3/discovery:${type}`, {
    method: "POST",
    headers: { "x-envoy-expected-rq-timeout-ms": "45000" },
    body: JSON.stringify({ node, ...more }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: answer.status, text: await answer.text() };
}

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
  const held = [1, 2, 3].map(() => poll("routes", current));
  await new Promise((resolve) => setTimeout(resolve, 300));
  gone.abort();
  expect(await left).toBe("gone");
  expect(await push(11)).toBe(200);
  // Whoever starves is told in the end that nothing is new.
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);
}, 120_000);
