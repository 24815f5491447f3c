import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapOf, restSource } from "../../lib/agent/bootstrap.ts";
import { hashOf } from "../../lib/base/blob.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import type { CompiledResource, CompiledShape, CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { type ResourceType, typeUrlOf } from "../../lib/snapshot/resource-type.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { freePort } from "../free-port.ts";
import { eventually, type RunningEnvoy, startEnvoy } from "./envoy.ts";
import { failures, startTraffic } from "./traffic.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

const closing: (() => unknown)[] = [];
const names = ["blue", "green", "red"];
const upstreams = new Map<string, Upstream>();
let port = 0;
let envoy: RunningEnvoy;
let frontUrl = "";

const store = memoryStore();
// Polls are held, so a change of clusters is with Envoy within its delay of one to two seconds.
const publisher = createPublisher(store, { pace: { settleMs: 2_500, retentionMs: 2_500 } });

function resource(type: ResourceType, name: string, json: object): CompiledResource {
  const text = JSON.stringify({ "@type": typeUrlOf(type), name, ...json });
  return { name, text, version: hashOf(text), from: [] };
}

/** One listener, one route table, and one cluster for each upstream that has a weight. */
function world(weights: Readonly<Record<string, number>>): CompiledWorld {
  const clusters = Object.keys(weights).map((name) =>
    resource("clusters", name, {
      type: "STATIC",
      connectTimeout: "1s",
      loadAssignment: {
        clusterName: name,
        endpoints: [{ lbEndpoints: [{ endpoint: { address: socketAddress(upstreams.get(name)?.port ?? 0) } }] }],
      },
    }),
  );
  const weighted = Object.entries(weights).map(([name, weight]) => ({ name, weight }));
  const routes = resource("routes", "http.80", {
    virtualHosts: [
      {
        name: "all",
        domains: ["*"],
        routes: [{ match: { prefix: "/" }, route: { weightedClusters: { clusters: weighted } } }],
      },
    ],
  });
  const manager = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    statPrefix: "http",
    rds: { routeConfigName: "http.80", configSource: restSource() },
    httpFilters: [
      {
        name: "envoy.filters.http.router",
        typedConfig: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
      },
    ],
  };
  const listener = resource("listeners", "http", {
    address: socketAddress(port),
    filterChains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typedConfig: manager }] }],
  });
  const shape: CompiledShape = { clusters: [clusters], endpoints: [], listeners: [[listener]], routes: [[routes]] };
  return {
    classes: [{ id: "gateway", stream: shape, poll: shape }],
    classifier: { attributes: [], labels: {}, classes: {}, defaults: { "router/default": "gateway" } },
    nodes: [],
    diagnostics: [],
    sources: [],
    compiler: "test",
  };
}

const socketAddress = (portValue: number) => ({ socketAddress: { address: "127.0.0.1", portValue } });

async function publishWorld(compiled: CompiledWorld): Promise<void> {
  const result = await publisher.publish(compiled, await publisher.head());
  expect(result.kind).toBe("published");
}

async function publish(weights: Readonly<Record<string, number>>): Promise<void> {
  await publishWorld(world(weights));
}

beforeAll(async () => {
  for (const name of names) upstreams.set(name, await startUpstream(name));
  port = await freePort();
  await publish({ blue: 90, green: 10 });
  const front = createFront({ store, maxHoldMs: 20_000 });
  const server = await serveHttp(frontApp(front), 0, "127.0.0.1", limits);
  frontUrl = server.url;
  closing.push(() => front.close(), server.close);
  envoy = await startEnvoy(
    bootstrapOf({
      nodeId: "router~10.0.0.9~gateway-0.default~default.svc.cluster.local",
      nodeCluster: "gateway.default",
      metadata: { NAMESPACE: "default" },
      server: { host: "127.0.0.1", port: Number(new URL(server.url).port) },
      adminPort: 0,
    }),
  );
  closing.unshift(envoy.stop);
});

afterAll(async () => {
  for (const close of closing) await close();
  for (const upstream of upstreams.values()) await upstream.close();
});

describe("a polling Envoy", () => {
  it("splits by weight, and follows a changed weight without a failed request", async () => {
    const traffic = startTraffic(port, "any.example");
    const total = () => [...traffic.counts().values()].reduce((sum, count) => sum + count, 0);
    await eventually(
      async () => total(),
      (sent) => sent >= 1_000,
    );
    const green = (traffic.counts().get("green") ?? 0) / total();
    // Four standard deviations around a tenth of a thousand.
    expect(green).toBeGreaterThan(0.06);
    expect(green).toBeLessThan(0.14);

    await publish({ blue: 0, green: 100 });
    const startMs = performance.now();
    await eventually(
      async () => {
        traffic.reset();
        await new Promise((resolve) => setTimeout(resolve, 20));
        return traffic.counts();
      },
      (counts) => counts.size === 1 && counts.has("green"),
    );
    console.log(`from publish to all traffic moved: ${Math.round(performance.now() - startMs)} ms`);
    await traffic.stop();
    expect(failures(traffic, names)).toEqual(new Map());
  });

  it("is led to a new cluster and away from an old one without a failed request", async () => {
    // As the test before leaves it; a second try has to lead back there.
    await publisher.publish(world({ blue: 0, green: 100 }), await publisher.head());
    const clusters = () => envoy.admin("/clusters?format=json");
    await eventually(clusters, (text) => text.includes('"green"') && !text.includes('"red"'), 25_000);
    const traffic = startTraffic(port, "any.example");
    await publish({ red: 100 });
    await eventually(
      async () => traffic.counts().get("red") ?? 0,
      (red) => red > 100,
    );
    // Past the retention, the old clusters are gone.
    await eventually(clusters, (text) => text.includes('"red"') && !text.includes('"green"'), 15_000);
    await traffic.stop();
    expect(failures(traffic, names)).toEqual(new Map());
  });

  it("has refused nothing and failed at nothing", async () => {
    for (const stat of [
      "cluster_manager.cds.update_rejected",
      "listener_manager.lds.update_rejected",
      "http.http.rds.http.80.update_rejected",
      "cluster_manager.cds.update_failure",
      "listener_manager.lds.update_failure",
    ]) {
      expect([stat, await envoy.stat(stat)]).toEqual([stat, 0]);
    }
  });

  it("refuses a cluster that breaks a constraint, goes on with what it has, and is found out by the front", async () => {
    const good = world({ red: 100 });
    const broken = resource("clusters", "broken", { type: "STATIC", connectTimeout: "-1s" });
    const classes = good.classes.map((proxyClass) => {
      const shape = { ...proxyClass.poll, clusters: [[broken], ...proxyClass.poll.clusters] };
      return { ...proxyClass, stream: shape, poll: shape };
    });
    const traffic = startTraffic(port, "any.example");
    await publishWorld({ ...good, classes });
    const refusals = () => fetch(`${frontUrl}/refusals`).then((response) => response.text());
    const told = await eventually(refusals, (text) => text.includes("broken"));
    expect(JSON.parse(told)).toMatchObject({ refusals: [{ type: "clusters", suspects: [{ name: "broken" }] }] });
    expect(Number(await envoy.stat("cluster_manager.cds.update_rejected"))).toBeGreaterThan(0);
    await publishWorld(good);
    await eventually(refusals, (text) => !text.includes("broken"));
    await traffic.stop();
    expect(failures(traffic, names)).toEqual(new Map());
  });

  it("ends by itself, with exit code 0, when it is told to", async () => {
    await envoy.stop();
  });
});
