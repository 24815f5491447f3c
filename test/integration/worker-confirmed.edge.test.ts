/** Two Workers in one place: what a node has confirmed to one lets it through a switch at the other, by way of the place's cache. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { signRequest } from "../../lib/compile/webhook/signature.ts";
import { writeFrontConfig } from "./front-config.ts";
import { weightedShop } from "./weighted-shop.ts";

const secret = "a-shared-secret";
const names = ["portolan-front", "portolan-front-beside"] as const;
let directory = "";
let harness: ReturnType<typeof createTestHarness>;

/** A new service and a route to it. */
const late = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: late, namespace: bookshop}
spec:
  hosts: [late.example]
  ports: [{number: 80, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: 10.9.9.9}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: late, namespace: bookshop}
spec:
  hosts: [shop.example.com]
  gateways: [bookshop]
  http: [{match: [{uri: {prefix: /late}}], route: [{destination: {host: late.example}}]}]
`;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "portolan-confirmed-"));
  const fronts = await Promise.all(
    names.map(async (name) => ({
      configPath: await writeFrontConfig(directory, { name }),
      vars: { AUTHENTICATION: "off" },
    })),
  );
  const compile = {
    configPath: new URL("../../wrangler.compile.toml", import.meta.url),
    secrets: { PORTOLAN_WEBHOOK_SECRET: secret },
  };
  harness = createTestHarness({ workers: [...fronts, compile] });
  await harness.listen();
}, 120_000);
afterAll(async () => {
  await harness.close();
  await rm(directory, { recursive: true, force: true });
});

async function push(delivery: string, more: readonly { readonly file: string; readonly text: string }[]) {
  const target = "/sources/main";
  const body = JSON.stringify({ files: [...(await weightedShop(50)), ...more] });
  const request = { method: "POST", target, body: new TextEncoder().encode(body) };
  const headers = await signRequest(secret, request, delivery, Date.now());
  const compile = harness.getWorker("portolan-compile");
  const answer = await compile.fetch(`http://compile${target}`, { method: "POST", headers: { ...headers }, body });
  expect(answer.status).toBe(200);
}

const gateway = (at: number) => ({
  id: `router~127.0.0.${at}~istio-ingressgateway-${at}.bookshop~bookshop.svc.cluster.local`,
  cluster: "x",
  metadata: { NAMESPACE: "bookshop", LABELS: { istio: "ingressgateway", app: "istio-ingressgateway" } },
});

async function poll(front: (typeof names)[number], type: string, node: object, more: object = {}) {
  const answer = await harness.getWorker(front).fetch(`http://front/v3/discovery:${type}`, {
    method: "POST",
    body: JSON.stringify({ node, ...more }),
  });
  const text = await answer.text();
  return { status: answer.status, text, version: /"version_info":"([^"]+)"/.exec(text)?.[1] ?? "" };
}

it("a node that has the clusters of a switch is given its routes by a Worker that it has not told so", async () => {
  const [one, beside] = names;
  const [node, other] = [gateway(1), gateway(2)];
  await push("delivery-1", []);
  const { text: listeners } = await poll(one, "listeners", node);
  const name = /"route_?[cC]onfig_?[nN]ame":"([^"]+)"/.exec(listeners)?.[1] ?? "";
  const routes = async (front: (typeof names)[number], who: object) =>
    (await poll(front, "routes", who, { resource_names: [name] })).text.includes("late.example");
  expect([await routes(one, node), await routes(beside, node)]).toEqual([false, false]);

  await push("delivery-2", [{ file: "late.yaml", text: late }]);
  // HEAD is a second old at most.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const { version } = await poll(one, "clusters", node);
  expect((await poll(one, "clusters", node, { version_info: version })).status).toBe(304);
  expect(await routes(one, node)).toBe(true);
  expect(await routes(beside, node)).toBe(true);
  // Of whom neither has heard anything the time of the switch counts.
  expect(await routes(beside, other)).toBe(false);
}, 60_000);
