import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { rejections } from "../e2e/bookshop.ts";
import { startDev } from "../e2e/dev-process.ts";
import { eventually, type RunningEnvoy, startEnvoy } from "../e2e/envoy.ts";
import { failures, startTraffic } from "../e2e/traffic.ts";
import { startUpstream } from "../e2e/upstream.ts";
import { freePort } from "../free-port.ts";
import { type CollectProcess, startCollect } from "./collect-process.ts";
import { type ConsulServer, hasConsul, startConsul } from "./consul-server.ts";

/** A gateway that leads everything to a service that Consul knows, and the folder does not. */
const gateway = (port: number, servicePort: number) => `
apiVersion: v1
kind: Pod
metadata: { name: edge-1, namespace: edge, labels: { app: edge } }
spec:
  containers: [{ name: istio-proxy, args: [proxy, router] }]
status: { phase: Running, podIP: 127.0.0.1, podIPs: [{ ip: 127.0.0.1 }], conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: edge, namespace: edge }
spec:
  selector: { app: edge }
  servers: [{ port: { number: ${port}, name: http, protocol: HTTP }, hosts: ["*"] }]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: reviews, namespace: edge }
spec:
  hosts: ["*"]
  gateways: [edge]
  http: [{ route: [{ destination: { host: reviews.service.consul, port: { number: ${servicePort} } } }] }]
`;

const addresses = { r1: "127.0.0.21", r2: "127.0.0.22", r3: "127.0.0.23" } as const;
const names = Object.keys(addresses);

describe.skipIf(!hasConsul())("services of a real Consul in a real Envoy", () => {
  const closing: (() => unknown)[] = [];
  let consul: ConsulServer;
  let collect: CollectProcess;
  let envoy: RunningEnvoy;
  let port: number;
  let register: (id: keyof typeof addresses) => Promise<void>;

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "portolan-consul-envoy-"));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    port = await freePort();
    const servicePort = await freePort();
    for (const [name, address] of Object.entries(addresses)) {
      const upstream = await startUpstream(name, servicePort, address);
      closing.push(upstream.close);
    }
    consul = await startConsul();
    closing.push(consul.stop);
    register = (id) =>
      consul.put("agent/service/register", {
        Name: "reviews",
        ID: id,
        Address: addresses[id],
        Port: servicePort,
        Meta: { protocol: "http" },
      });
    await register("r1");
    await register("r2");
    await writeFile(join(folder, "edge.yaml"), gateway(port, servicePort));
    const dev = await startDev(folder);
    closing.push(dev.stop);
    collect = startCollect(["consul", "--address", consul.url, "--store", join(folder, ".store")]);
    closing.push(collect.stop);
    await collect.told("published");
    const [proxy] = proxiesIn(await readFolder(folder));
    if (proxy === undefined) throw new Error("the folder has a gateway");
    envoy = await startEnvoy(bootstrapFor(proxy, dev.url, 0));
    closing.push(envoy.stop);
    await eventually(
      async () => Number(await envoy.stat("listener_manager.total_listeners_active")),
      (count) => count > 0,
      20_000,
    );
  }, 180_000);

  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  }, 60_000);

  it("are reached, followed when instances go, and through Consul's own end and a new beginning", async () => {
    const traffic = startTraffic(port, "anything.test");
    const failed: string[] = [];
    const reset = () => {
      failed.push(...failures(traffic, names).keys());
      traffic.reset();
    };
    const answers = async () => [...traffic.counts().keys()].sort();
    const reached = (want: readonly string[]) =>
      eventually(answers, (found) => want.every((name) => found.includes(name)), 20_000);
    await reached(["r1", "r2"]);

    await consul.put("agent/service/deregister/r1");
    const startMs = performance.now();
    await eventually(
      async () => {
        reset();
        await new Promise((resolve) => setTimeout(resolve, 100));
        return answers();
      },
      (found) => found.join() === "r2",
      20_000,
    );
    console.log(`an instance's end: ${Math.round(performance.now() - startMs)} ms until Envoy had heard of it`);

    await consul.kill();
    await collect.told("trouble");
    reset();
    await reached(["r2"]);
    await consul.restart();
    // For a while it knows of nothing.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await answers()).toEqual(["r2"]);
    await register("r2");
    await register("r3");
    await reached(["r2", "r3"]);
    await collect.told("in sync");
    await traffic.stop();
    reset();
    expect(failed).toEqual([]);
    expect(await rejections(envoy)).toEqual([]);
  }, 120_000);
});
